package qemu

import (
	"context"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/jail/bwrap"
	"aibox/internal/proc"
)

// again is what to do about a QEMU that does not work.
const again = "install it again: sudo apt-get install --reinstall qemu-system-x86"

// Probe finds QEMU and asks it what it is, without starting a machine. The
// errors are those of a start: QEMU is missing, or cannot make a microvm.
func Probe(ctx context.Context) (program, version string, err error) {
	if program, err = (Backend{}).find(); err != nil {
		return "", "", err
	}
	if _, _, err := bwrap.Libraries(ctx, program); err != nil {
		return program, "", err
	}
	out, err := proc.Output(ctx, proc.Cmd{Name: "qemu", Path: program, Args: []string{"--version"}})
	if err != nil {
		return program, "", fault.New(fault.Machine, again, "ask QEMU for its version: %w", err)
	}
	version = parseVersion(string(out))
	out, err = proc.Output(ctx, proc.Cmd{Name: "qemu", Path: program, Args: []string{"-machine", "help"}})
	if err != nil {
		return program, version, fault.New(fault.Machine, again, "ask QEMU for its machines: %w", err)
	}
	if !hasMachine(string(out), "microvm") {
		return program, version, fault.New(fault.Machine, "install QEMU 7.2 or newer with its x86 machines: sudo apt-get install qemu-system-x86",
			"%s has no machine \"microvm\"", program)
	}
	return program, version, nil
}

// parseVersion cuts the version out of "QEMU emulator version 7.2.0 (Debian …)".
func parseVersion(out string) string {
	line, _, _ := strings.Cut(out, "\n")
	_, version, found := strings.Cut(line, "version ")
	if !found {
		return "unknown"
	}
	return version
}

// hasMachine looks for a name at the beginning of a line of "-machine help".
func hasMachine(out, name string) bool {
	for line := range strings.Lines(out) {
		if first, _, _ := strings.Cut(strings.TrimSpace(line), " "); first == name {
			return true
		}
	}
	return false
}
