package cli

import (
	"fmt"

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

// Oldest kernel with all that the lock-down needs: Landlock's rules for TCP
// came with 6.7.
const oldestMajor, oldestMinor = 6, 7

// oldKernelFlag goes on all the same. Package jail names it too, where a new
// kernel lacks a protection because it was built without.
const oldKernelFlag = "allow-old-kernel"

// kernelIsNew refuses a kernel on which aibox cannot be locked down.
func (a *app) kernelIsNew() error {
	if a.machine.kernel == "" {
		return nil
	}
	var major, minor int
	if n, err := fmt.Sscanf(a.machine.kernel, "%d.%d", &major, &minor); n != 2 || err != nil {
		return fault.New(fault.Machine, "uname -r shows it", "the kernel's release %q is not understood", a.machine.kernel)
	}
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return fault.New(fault.Machine, "install a newer kernel, such as your distribution's backport, or go on with less protection: --"+oldKernelFlag,
			"the kernel is %s, but aibox needs %d.%d or newer to confine itself", a.machine.kernel, oldestMajor, oldestMinor)
	}
	return nil
}
