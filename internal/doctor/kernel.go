package doctor

import (
	"fmt"

	"aibox/internal/fault"
	"aibox/internal/jail"
)

// Oldest kernel with all that the lock-down needs: Landlock's rules for TCP
// came with 6.7.
const oldestMajor, oldestMinor = 6, 7

// OldKernel refuses a kernel's release on which aibox cannot confine itself, by an
// error of kind fault.Machine. An empty release is none that matters.
func OldKernel(release string) error {
	if release == "" {
		return nil
	}
	var major, minor int
	if n, err := fmt.Sscanf(release, "%d.%d", &major, &minor); n != 2 || err != nil {
		return fault.New(fault.Machine, "uname -r shows it", "the kernel's release %q is not understood", release)
	}
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return fault.New(fault.Machine, "install a newer kernel, such as your distribution's backport, or go on with less protection: "+jail.OldKernelFlag,
			"the kernel is %s, but aibox needs %d.%d or newer to confine itself", release, oldestMajor, oldestMinor)
	}
	return nil
}
