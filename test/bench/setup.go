//go:build linux

package main

import (
	"os"

	"aibox/test/bench/kit"
	"aibox/test/bench/load"
	"aibox/test/bench/report"
)

// withKit has a part measure on a machine with a kit, and with a folder that
// goes with it in the end.
func (m machine) withKit(measure func(m machine, dir string) ([]report.Row, error)) func() ([]report.Row, error) {
	return func() ([]report.Row, error) {
		dir, err := os.MkdirTemp("", "bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if m.Kit, err = kit.Make(dir, m.guest, m.Bench); err != nil {
			return nil, err
		}
		return measure(m, dir)
	}
}

// withServer is withKit for a part that needs a server on the host.
func (m machine) withServer(measure func(machine, *load.Server) ([]report.Row, error)) func() ([]report.Row, error) {
	return m.withKit(func(m machine, _ string) ([]report.Row, error) {
		server, err := load.Serve()
		if err != nil {
			return nil, err
		}
		defer server.Close()
		return measure(m, server)
	})
}
