//go:build !linux

package run

import (
	"context"
	"log/slog"
	"runtime"

	"aibox/internal/fault"
	"aibox/internal/vm"
)

type unsupported struct{}

func (unsupported) Start(context.Context, vm.Spec) (vm.Machine, error) { return nil, notYet() }

func notYet() error {
	return fault.New(fault.Machine, "use a Linux machine", "aibox does not run VMs on %s yet", runtime.GOOS)
}

func backend(Options, *slog.Logger) vm.Backend { return unsupported{} }

func accelerationNotice() string { return "" }
