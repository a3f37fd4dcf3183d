// Command bench measures aibox beside a floor or a peer in the same run, prints
// a table, and writes it to bench/results.md. Every number is a median; what
// counts is the ratio, since absolute times are one machine's. It needs
// AIBOX_BIN, AIBOX_IMAGE and AIBOX_VIRTIOFSD (scripts/bench.sh).
package main

import (
	"fmt"
	"os"

	"aibox/internal/vm/qemu"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bench RESULTS.md")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	m := machine{
		aibox: os.Getenv("AIBOX_BIN"), image: os.Getenv("AIBOX_IMAGE"), virtiofsd: os.Getenv("AIBOX_VIRTIOFSD"), qemu: "qemu-system-x86_64",
		kvm: qemu.Acceleration().KVM,
	}
	var rows []row
	for _, measure := range []func() ([]row, error){m.prompt, m.task} {
		more, err := measure()
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	text := table(rows)
	fmt.Print(text)
	return os.WriteFile(path, []byte(m.header()+text), 0o644)
}
