//go:build !linux

package doctor

import (
	"context"
	"runtime"

	"aibox/internal/fault"
)

func platform() []check {
	return []check{{"system", func(context.Context, Host) (Result, bool) {
		return fail(fault.New(fault.Machine, "use a Linux machine", "aibox does not run VMs on %s yet", runtime.GOOS))
	}}}
}
