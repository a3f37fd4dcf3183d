package run

import (
	"log/slog"

	"aibox/internal/vm"
	"aibox/internal/vm/qemu"
)

func backend(o Options, log *slog.Logger) vm.Backend {
	return qemu.Backend{NoSandbox: o.NoSandbox, Log: log}
}

// accelerationNotice says in one line that the VM is slow, and why.
func accelerationNotice() string {
	a := qemu.Acceleration()
	if a.KVM {
		return ""
	}
	return "no hardware virtualization, so the VM is emulated in software and slow: " + a.Reason
}
