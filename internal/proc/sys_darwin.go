package proc

import (
	"errors"
	"syscall"
)

const rootDir = "/"

// sysAttributes asks for a session of its own. This system has no parent-death
// signal; helpers here watch the pipe to aibox instead.
func sysAttributes(cmd Cmd) (*syscall.SysProcAttr, error) {
	if cmd.Caged {
		return nil, errors.New("process namespaces: not on darwin")
	}
	return &syscall.SysProcAttr{Setsid: true}, nil
}

// leaveKeys has nothing to do: this system has no keyrings that are inherited.
func leaveKeys() error { return nil }

// keepFilesIn has nothing to do yet: nothing is started on this system.
func keepFilesIn() error { return nil }

// waitExit has no way to wait without reaping here, so what a program leaves
// in its group lives on.
func waitExit(int) bool { return false }

func signalGroup(pid int, sig syscall.Signal) { _ = syscall.Kill(-pid, sig) }

// lighten has nothing to do: only Linux weighs sessions.
func lighten(int) {}
