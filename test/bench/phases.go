//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// taskPhase is where a task's time outside of Claude Code goes.
type taskPhase struct {
	pack    time.Duration // until the host starts the VM
	project time.Duration // until the VM has the project
	collect time.Duration // until the VM has the bundle
	rest    time.Duration // the VM's boot and end, and the results
}

func (p taskPhase) total() time.Duration { return p.pack + p.project + p.collect + p.rest }

// readPhases reads the events of a task that began at start. What the VM says of
// its times is believed.
func readPhases(start time.Time, took time.Duration, events []byte) (p taskPhase, err error) {
	for line := range strings.Lines(string(events)) {
		var e struct {
			Event, From, Text string
			Time              time.Time
			Result            struct {
				VM struct {
					Seconds float64
					Before  float64 `json:"seconds_before"`
					After   float64 `json:"seconds_after"`
				} `json:"vm_says"`
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return p, err
		}
		switch {
		case e.From == "aibox" && e.Text == "starting the VM":
			p.pack = e.Time.Sub(start)
		case e.Event == "end":
			p.project, p.collect = inSeconds(e.Result.VM.Before), inSeconds(e.Result.VM.After)
			p.rest = took - p.pack - p.project - p.collect - inSeconds(e.Result.VM.Seconds)
		}
	}
	return p, nil
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// taskPhases are those of several rounds.
type taskPhases []taskPhase

// String gives the median of each phase.
func (p taskPhases) String() string {
	median := func(of func(taskPhase) time.Duration) float64 {
		var all []time.Duration
		for _, x := range p {
			all = append(all, of(x))
		}
		slices.Sort(all)
		return all[len(all)/2].Seconds()
	}
	return fmt.Sprintf("%.1f s to pack on the host, %.1f s to make the project in the VM, %.1f s to commit and bundle there, %.1f s for the VM's boot and end",
		median(func(x taskPhase) time.Duration { return x.pack }), median(func(x taskPhase) time.Duration { return x.project }),
		median(func(x taskPhase) time.Duration { return x.collect }), median(func(x taskPhase) time.Duration { return x.rest }))
}
