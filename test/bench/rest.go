//go:build linux

package main

import (
	"time"

	"aibox/test/bench/report"
)

// Why goals are missed, found by profiles; printed when they are.
const (
	restPrompt   = "The floor's init prints at once; aibox's start has a sandbox, a file server, init's work, a login and a shell besides, whose times are in the note. What the kernel saves since it is told its timer's speed it saves on both sides, so the start gets shorter and the ratio larger."
	restVirtiofs = "The server, its flags and the VM's kernel are the same; what differs is the sandbox with its filter of system calls, init and the session beside the work, and that QEMU, the file server and aibox are sessions of their own on the host, which Linux weighs apart (autogroups): with these off, git status over 9p took a fifth less time, of which the server's lower weight won back a part."
	restStream   = "9p sends 7.2 messages for each file (counted: walk, getattr and clunk of the folder and of the file, and the getattr of stat), each through a serial port and the workers of the kernel's 9p."
	restDiod     = "With only the servers exchanged in the bare VM, and before quick requests were answered at once, single runs gave 1.15 for git status, 1.33 for untar and 1.09 for small files. Most calls of aibox's server beside those on files are of Go's scheduler (futex, epoll). The rest is what differs between the VMs."
	restPieces   = "virtiofs shares the VM's memory; here QEMU copies what the host sends into a serial port by 4 KiB, and the VM's kernel what it sends by 32 KiB."
	restNetwork  = "An exchange between two programs over the loopback of the emulated VM alone takes 0.3 ms; each request passes it on the way to init, whose multiplexer and serial port take as long as a network card and more."
	restProxy    = "Each client asks as soon as it is answered, so a faster proxy gets more work and leaves less of the CPUs idle, 9 % where squid left 19 %; the row with one rate for all compares the tails alone. A heap four times as large and a single thread, which were tried, change nothing here."
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
