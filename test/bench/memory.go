//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"aibox/test/bench/load"
	"aibox/test/bench/procs"
	"aibox/test/bench/report"
)

// The session says these words when it is idle and when it starts to work.
const (
	idleWord = "BENCH-IDLE"
	busyWord = "BENCH-BUSY"
)

// samplePause is the time between two looks at the processes.
const samplePause = 200 * time.Millisecond

// memory measures the host's processes of a session that is idle and then works
// on files and on the network.
func (m machine) memory(server *load.Server) ([]report.Row, error) {
	var rows []report.Row
	for _, kind := range []string{"virtiofs", "9p"} {
		p, remove, err := m.filesPlace("shares: " + kind + "\nallow: [\"" + server.Addr + "\"]\n")
		if err != nil {
			return nil, err
		}
		more, err := p.memoryRows(kind, "net=net:127.0.0.1:3128,"+server.Addr+" files=brief:files")
		remove()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (p place) memoryRows(kind, jobs string) (rows []report.Row, err error) {
	s, err := p.start("echo " + idleWord + "; sleep 5; echo " + busyWord + "; " + guestCommand(jobs))
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.wait()
		done <- err
	}()
	idle, busy, err := s.sample(done)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(busy.Resident)) {
		for _, state := range []struct {
			name string
			procs.Peak
		}{{"idle", idle}, {"busy", busy}} {
			row := report.Row{Name: fmt.Sprintf("memory of %s, %s, shares by %s", name, state.name, kind), Unit: "MB resident",
				Ours: report.Series{state.Resident[name]}}
			if share := state.Proportional[name]; share > 0 {
				row.Note = fmt.Sprintf("%.1f MB without what other processes share of it", share)
			}
			if name == procs.Aibox {
				row.Peers = []report.Peer{report.Limit(40, restMemory)}
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// sample looks at the session's processes until it ends.
func (s *session) sample(done <-chan error) (idle, busy procs.Peak, err error) {
	idle, busy = procs.NewPeak(), procs.NewPeak()
	tick := time.NewTicker(samplePause)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return idle, busy, err
		case <-tick.C:
		}
		switch said := s.out.String(); {
		case strings.Contains(said, busyWord):
			busy.Look(s.cmd.Process.Pid)
		case strings.Contains(said, idleWord):
			idle.Look(s.cmd.Process.Pid)
		}
	}
}
