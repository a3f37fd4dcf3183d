package qemu

import (
	"strings"

	"aibox/internal/fault"
	"aibox/internal/jail/bwrap"
)

// failures are what QEMU prints when the machine cannot run here, and what the
// user can do. The first that matches counts.
func failures() []struct{ says, means, hint string } {
	const (
		less = "give the VM less memory, by --memory or `memory:` in the config, or close other programs"
		old  = "install QEMU 7.2 or newer: sudo apt-get install qemu-system-x86"
	)
	return []struct{ says, means, hint string }{
		{"annot allocate memory", "this machine has not enough free memory for the VM", less},
		{"Failed to get \"write\" lock", "another process uses the state disk", "end the other VM of this project"},
		{"ailed to initialize kvm", "hardware virtualization does not work here", "check that your user may open /dev/kvm: sudo usermod -aG kvm $USER"},
		{"sandbox support is not enabled", "this QEMU is built without seccomp", old},
		{"could not load module", "QEMU's module for software emulation does not load", "install it again: sudo apt-get install --reinstall qemu-system-x86 qemu-system-common"},
		{"No accelerator found", "this QEMU has no software emulation", old},
		{"unsupported machine type", "this QEMU has no microvm machine", old},
		{"could not load PC BIOS", "QEMU's firmware is not installed", "install it: sudo apt-get install qemu-system-data seabios"},
		{"is not a valid device model name", "this QEMU lacks a device that the VM needs", old},
		{"is an unexpected option", "this QEMU is too old", old},
	}
}

// explain turns QEMU's end into an error that says what to do. stderr is the
// tail of what QEMU and bubblewrap printed, both programs of the host.
func explain(err error, stderr string) error {
	if wrapped := bwrap.Explain(err); wrapped != err {
		return wrapped
	}
	for _, f := range failures() {
		if strings.Contains(stderr, f.says) {
			return fault.New(fault.Machine, f.hint, "%s: %w", f.means, err)
		}
	}
	if strings.Contains(err.Error(), "signal 9") {
		return fault.New(fault.Failed, "if the machine ran out of memory, give the VM less: --memory",
			"the VM was killed: %w", err)
	}
	return err
}

// gaveUp is nil for an empty reason.
func gaveUp(reason, console string) error {
	if reason == "" {
		return nil
	}
	return fault.New(fault.Failed, "the VM's console is in "+console, "the VM gave up: %s", reason)
}
