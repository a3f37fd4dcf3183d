//go:build !linux

package image

import (
	"io"
	"os"
	"runtime"

	"aibox/internal/fault"
)

const nonblock = 0

func seal(string, io.Reader) (*os.File, error) {
	return nil, fault.New(fault.Machine, "use aibox on Linux", "starting a VM: not yet on %s", runtime.GOOS)
}
