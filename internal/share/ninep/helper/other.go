//go:build !linux

package helper

import (
	"fmt"
	"os"
	"runtime"

	"aibox/internal/share"
)

func errNotYet() error { return fmt.Errorf("not yet on %s", runtime.GOOS) }

func start([]share.Folder, Options) (*Server, error) { return nil, errNotYet() }

// Main is the server's side, which is not yet on this system.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, errNotYet())
	return 1
}
