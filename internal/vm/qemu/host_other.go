//go:build !linux

package qemu

import (
	"errors"
	"os"
	"runtime"

	"aibox/internal/fault"
)

func tryKVM(string) error { return errors.New("no KVM on " + runtime.GOOS) }

func hostMemory() int { return 0 }

func socketPair(string) (host, guest *os.File, err error) {
	return nil, nil, fault.New(fault.Machine, "use aibox on Linux", "virtual machines on QEMU: not on %s", runtime.GOOS)
}
