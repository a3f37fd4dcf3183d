package qemu

// Accel says how a machine started now would run.
type Accel struct {
	// KVM is true for hardware virtualization, false for software emulation.
	KVM bool
	// Reason says why not KVM, in the words of the kernel; empty with KVM.
	Reason string
}

// Acceleration tries /dev/kvm: it must open and make a VM.
func Acceleration() Accel {
	if err := tryKVM(kvmPath); err != nil {
		return Accel{Reason: err.Error()}
	}
	return Accel{KVM: true}
}

const kvmPath = "/dev/kvm"
