//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// group makes the command's end the end of all that it started: `go test`
// starts the test, which starts its workers.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
