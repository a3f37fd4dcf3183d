//go:build !linux

package files

import (
	"context"
	"runtime"

	"aibox/internal/fault"
	"aibox/internal/share"
)

func missing(context.Context) error { return notYet() }

func startVirtiofs(context.Context, []share.Folder, Options) (*Server, error) { return nil, notYet() }

func notYet() error {
	return fault.New(fault.Machine, "use a Linux machine", "aibox does not run VMs on %s yet", runtime.GOOS)
}
