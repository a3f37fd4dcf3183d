package task

import (
	"errors"
	"strings"
	"syscall"

	"aibox/internal/fault"
)

// fullDisk makes an error that means a full disk the task's own failure, exit
// code 1: elsewhere it counts as something that the machine lacks.
func fullDisk(err error, dir string) error {
	if err == nil || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !strings.Contains(err.Error(), gitFull) {
		return err
	}
	return fault.New(fault.Failed, "free some space: df -h "+fault.ShellQuote(dir), "%w", err)
}

// gitFull is in git's last word on a full disk; it speaks no other language.
const gitFull = "No space left on device"
