//go:build !linux

package seccomp

import (
	"fmt"
	"runtime"
)

func supported() bool { return false }

func install(Options) error {
	return fmt.Errorf("seccomp: not yet on %s", runtime.GOOS)
}
