//go:build linux

// Command bench measures aibox beside a floor or peers in the same run, prints
// a table, and writes it to a file. What counts are ratios of medians, since
// absolute values are one machine's. It needs AIBOX_BIN, AIBOX_IMAGE,
// AIBOX_VIRTIOFSD, AIBOX_BENCH and AIBOX_BENCH_GUEST; scripts/bench.sh sets them.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"aibox/test/bench/report"
	"aibox/test/bench/rivals"
	"aibox/test/ownnet"
)

func main() {
	if err := measure(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(args []string) error {
	if err := ownnet.Enter(); err != nil {
		return err
	}
	m := thisMachine()
	switch {
	case len(args) == 2 && args[0] == cloneArgument:
		return m.cloneInside(args[1], os.Stdout)
	case len(args) > 0 && args[0] == rivals.Argument:
		return rivals.Serve(args[1:])
	case len(args) > 0:
		return m.all(args[0], args[1:])
	}
	return errors.New("usage: bench RESULTS.md [ROW]…")
}

// part is some rows that are measured together.
type part struct {
	name string
	do   func() ([]report.Row, error)
}

func (m machine) parts() []part {
	return []part{
		{"prompt", m.prompt}, {"share", m.withKit(machine.share)}, {"network", m.withServer(machine.network)},
		{"proxy", func() ([]report.Row, error) { return rivals.Measure(m.Paths, restProxy) }},
		{"clone", m.clone}, {"task", m.task}, {"memory", m.withServer(machine.memory)}, {"size", m.size},
	}
}

// all measures what is named, or everything, and writes the table to a file. A
// part that fails does not keep the others from being measured, but is an error
// in the end.
func (m machine) all(path string, names []string) error {
	start := time.Now()
	on := report.ThisMachine(m.QEMU, m.KVM)
	var rows []report.Row
	var failed error
	for _, p := range m.parts() {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		began := time.Now()
		more, err := p.do()
		fmt.Fprintf(os.Stderr, "bench: %s took %d s\n", p.name, int(time.Since(began).Seconds()))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
			more = []report.Row{{Name: p.name, Note: "not measured: " + err.Error()}}
		}
		rows = append(rows, more...)
	}
	text := on.Header(start, time.Since(start)) + report.Table(rows)
	fmt.Print(text)
	return errors.Join(failed, os.WriteFile(path, []byte(strings.TrimRight(text, "\n")+"\n"), 0o644))
}
