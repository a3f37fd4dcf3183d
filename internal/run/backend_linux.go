package run

import (
	"context"
	"log/slog"

	"aibox/internal/share"
	"aibox/internal/share/virtiofs"
	"aibox/internal/vm"
	"aibox/internal/vm/qemu"
)

func backend(o Options, log *slog.Logger) vm.Backend {
	return qemu.Backend{NoSandbox: o.NoSandbox, Log: log}
}

func startFileServer(ctx context.Context, folders []share.Folder, log *slog.Logger) (fileServer, error) {
	s, err := virtiofs.Start(ctx, folders, virtiofs.Options{Log: log})
	if err != nil {
		return nil, err // and no interface around a nil server
	}
	return s, nil
}

// accelerationNotice says in one line that the VM is slow, and why.
func accelerationNotice() string {
	a := qemu.Acceleration()
	if a.KVM {
		return ""
	}
	return "no hardware virtualization, so the VM is emulated in software and slow: " + a.Reason
}
