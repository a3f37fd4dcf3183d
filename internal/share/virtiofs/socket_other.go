//go:build !linux

package virtiofs

import (
	"os"
	"runtime"

	"aibox/internal/fault"
)

func listen() (listener, connected *os.File, err error) {
	return nil, nil, fault.New(fault.Machine, "use aibox on Linux", "sharing folders by virtiofsd: not on %s", runtime.GOOS)
}

func maxFiles() int { return 1024 }

func filterFile() (*os.File, error) { return nil, nil }
