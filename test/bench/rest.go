//go:build linux

package main

import (
	"time"

	"aibox/test/bench/report"
)

// Why goals are missed, found by profiles; printed when they are.
const (
	restPrompt  = ""
	restNine    = ""
	restStream  = ""
	restNetwork = ""
	restProxy   = ""
	restMemory  = ""
	restTask    = ""
	restClone   = ""
)

// seconds are durations in the table's unit.
func seconds(all []time.Duration) (s report.Series) {
	for _, d := range all {
		s = append(s, d.Seconds())
	}
	return s
}
