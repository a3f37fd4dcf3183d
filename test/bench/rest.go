//go:build linux

package main

import (
	"time"

	"aibox/test/bench/report"
)

// Why goals are missed, found by profiles; printed when they are.
const (
	restPrompt   = "The floor's init prints at once; aibox's start has a sandbox, a file server, init's work, a login and a shell besides, whose times are in the note."
	restVirtiofs = "The server, its flags and the VM's kernel are the same; what differs is the sandbox with its filter of system calls, and init and the session beside the work."
	restStream   = "9p asks for each file in three messages (walk, getattr, clunk) where virtiofs has one, and copies them through a serial port where virtiofs shares memory."
	restNetwork  = "A connection passes the VM's TCP twice, and init, which multiplexes it onto a serial port; under emulation each of these steps costs the VM's processor more than a network card's driver."
	restProxy    = "More than half of the proxy's time is in system calls to connect, pass bytes on and close."
	restMemory   = "The program itself and what Go keeps for its heap."
	restTask     = "an emulated processor checks 10,000 files out ten times as slowly as the host's, and the VM's boot has no counterpart; the note has each phase"
	restClone    = "git checks and indexes what it gets on an emulated processor; through the same broker git on the host is one row above."
)

// seconds are durations in the table's unit.
func seconds(all []time.Duration) (s report.Series) {
	for _, d := range all {
		s = append(s, d.Seconds())
	}
	return s
}
