package boot

import (
	"slices"
	"strings"
)

// restarts tells by the kernel's command line how this machine ends. Without
// ACPI the kernel cannot switch the power off; there the host passes
// "reboot=t", so that a restart faults the processor, and ends the VM at it.
func restarts(cmdline string) bool {
	return slices.Contains(strings.Fields(cmdline), "reboot=t")
}
