//go:build !linux

package landlock

import (
	"fmt"
	"runtime"
)

func abi() int { return 0 }

func restrict(Rules) error {
	return fmt.Errorf("landlock: not yet on %s", runtime.GOOS)
}
