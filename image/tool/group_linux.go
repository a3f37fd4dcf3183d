package tool

import (
	"os/exec"
	"syscall"
)

// ownGroup puts cmd into a process group of its own and makes an interrupt
// reach all of it: mmdebstrap and make clean up on SIGTERM.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
