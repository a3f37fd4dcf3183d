package helper

import (
	"fmt"
	"syscall"
)

// become replaces the helper by the program, which inherits its confinement.
func become(path string, args, env []string) error {
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, args, env))
}
