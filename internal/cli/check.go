package cli

import (
	"aibox/internal/doctor"
	"aibox/internal/fault"
)

// notRoot refuses to work as root: files would become root's, and a mistake in
// what faces the VM would cost the whole machine.
func (a *app) notRoot() error {
	if a.machine.uid == 0 {
		return fault.New(fault.Refused, "start it as yourself, without sudo", "aibox does not run as root")
	}
	return nil
}

// oldKernelFlag goes on with a kernel on which aibox cannot be locked down.
// Package jail names it too, for its hints.
const oldKernelFlag = "allow-old-kernel"

// kernelIsNew refuses a kernel on which aibox cannot be locked down.
func (a *app) kernelIsNew() error { return doctor.OldKernel(a.machine.kernel) }
