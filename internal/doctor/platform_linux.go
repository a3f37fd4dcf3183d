package doctor

import (
	"context"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/jail"
	"aibox/internal/jail/bwrap"
	"aibox/internal/jail/landlock"
	"aibox/internal/share/virtiofs"
	"aibox/internal/vm/qemu"
)

func platform() []check {
	return []check{
		{"kernel", kernel},
		{"kvm", kvm},
		{"landlock", confinement},
		{"bubblewrap", bubblewrap},
		{"namespaces", namespaces},
		{"qemu", theQEMU},
		{"virtiofsd", fileServer},
	}
}

func kernel(_ context.Context, h Host) (Result, bool) {
	if err := OldKernel(h.Kernel); err != nil {
		return fail(err)
	}
	return ok("%s", h.Kernel)
}

// confinement asks for what a run that may reach the usual port takes away.
func confinement(context.Context, Host) (Result, bool) {
	report, err := jail.Check(jail.Policy{ConnectTCP: []uint16{443}, DNS: true})
	if err != nil {
		return fail(err)
	}
	var lost []string
	for _, guard := range report.Missing() {
		lost = append(lost, guard.Lost)
	}
	if len(lost) > 0 {
		return ok("ABI %d; newer kernels would limit one thing more: %s", landlock.ABI(), strings.Join(lost, "; "))
	}
	return ok("ABI %d", landlock.ABI())
}

func bubblewrap(ctx context.Context, _ Host) (Result, bool) {
	path, err := bwrap.Find()
	if err != nil {
		return fail(err)
	}
	version, err := bwrap.Version(ctx, path)
	if err != nil {
		return fail(err)
	}
	return ok("%s, %s", version, path)
}

// namespaces makes a sandbox, which needs the kernel's leave and AppArmor's.
func namespaces(ctx context.Context, _ Host) (Result, bool) {
	if _, err := bwrap.Find(); err != nil {
		return Result{}, false
	}
	if err := bwrap.Try(ctx); err != nil {
		return fail(err)
	}
	return ok("users can make sandboxes")
}

func theQEMU(ctx context.Context, _ Host) (Result, bool) {
	program, version, err := qemu.Probe(ctx)
	if err != nil {
		return fail(err)
	}
	return ok("%s, %s, with microvm", version, program)
}

func fileServer(ctx context.Context, _ Host) (Result, bool) {
	program, err := virtiofs.Probe(ctx)
	if err != nil {
		return warn(fault.HintOf(err), "%v; the project's files come by 9p instead, which is slower", err)
	}
	return ok("%s", program)
}
