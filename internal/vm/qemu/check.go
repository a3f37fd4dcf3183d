package qemu

import (
	"errors"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/vm"
)

// Limits of a machine. MaxCPUs is what the guest's kernel is built for.
const (
	MinMemory = 256 // MiB
	MaxCPUs   = 64
)

// check refuses what QEMU would refuse later and less clearly. hostMemory is in
// MiB; 0 is unknown.
func check(spec vm.Spec, hostMemory int) error {
	const hint = "set it by --memory or by `memory:` in the config"
	switch {
	case spec.Memory < MinMemory:
		return fault.New(fault.Usage, hint, "%d MiB of memory are too few for a VM: %d are the least", spec.Memory, MinMemory)
	case hostMemory > 0 && spec.Memory > hostMemory:
		return fault.New(fault.Machine, hint, "%d MiB of memory are more than the %d this machine has", spec.Memory, hostMemory)
	case spec.CPUs < 1 || spec.CPUs > MaxCPUs:
		return fault.New(fault.Usage, "set them by --cpus or by `cpus:` in the config", "%d CPUs are not 1 to %d", spec.CPUs, MaxCPUs)
	case spec.Kernel == nil || spec.RootDisk == nil || spec.Console == nil:
		return errors.New("a machine needs a kernel, a root disk and a console")
	}
	for _, a := range spec.KernelArgs {
		if strings.ContainsAny(a, " \n\x00") || a == "" {
			return fault.New(fault.Failed, "", "kernel argument %q is not one word", a)
		}
	}
	return nil
}
