package task

import (
	"errors"
	"strings"
	"syscall"

	"aibox/internal/fault"
	"aibox/internal/proc"
)

// fullDisk makes an error that means a full disk the task's own failure, exit
// code 1: elsewhere it counts as something that the machine lacks.
func fullDisk(err error, dir string) error {
	if err == nil || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return fault.New(fault.Failed, "free some space: df -h "+fault.ShellQuote(dir), "%w", err)
}

// gitFull tells by git's last word, which is English, that the disk is full.
func gitFull(err error) bool {
	exit := (*proc.ExitError)(nil)
	return errors.As(err, &exit) && (strings.Contains(exit.LastLine, "No space left on device") || strings.Contains(exit.LastLine, "Out of diskspace"))
}
