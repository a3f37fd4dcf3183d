//go:build !linux

package jail

import (
	"runtime"

	"aibox/internal/fault"
)

func machine() (abilities, error) {
	return abilities{}, fault.New(fault.Machine, "use Linux", "confining aibox: not yet on %s", runtime.GOOS)
}

// apply is not reached: machine fails before it.
func apply(Policy, Report) error { return nil }
