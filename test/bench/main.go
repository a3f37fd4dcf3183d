// Command bench measures aibox beside a floor or a peer in the same run, prints
// a table, and writes it to bench/results.md. Every number is a median; what
// counts is the ratio, since absolute times are one machine's. It needs
// AIBOX_BIN, AIBOX_IMAGE and AIBOX_VIRTIOFSD (scripts/bench.sh).
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"aibox/internal/vm/qemu"
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
	m := machine{
		aibox: os.Getenv("AIBOX_BIN"), image: os.Getenv("AIBOX_IMAGE"), virtiofsd: os.Getenv("AIBOX_VIRTIOFSD"), qemu: "qemu-system-x86_64",
		kvm: qemu.Acceleration().KVM,
	}
	switch {
	case len(args) == 2 && args[0] == cloneArgument:
		return m.cloneInside(args[1], os.Stdout)
	case len(args) > 0:
		return m.all(args[0], args[1:])
	}
	return errors.New("usage: bench RESULTS.md [prompt|task|clone]…")
}

// all measures what is named, or everything, and writes the table to a file.
func (m machine) all(path string, names []string) error {
	var rows []row
	for _, b := range []struct {
		name string
		do   func() ([]row, error)
	}{{"prompt", m.prompt}, {"task", m.task}, {"clone", m.clone}} {
		if len(names) > 0 && !slices.Contains(names, b.name) {
			continue
		}
		more, err := b.do()
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	text := table(rows)
	fmt.Print(text)
	return os.WriteFile(path, []byte(m.header()+text), 0o644)
}
