package proc

import (
	"errors"
	"syscall"
)

// rootDir is that of the current drive.
const rootDir = `\`

func sysAttributes(cmd Cmd) (*syscall.SysProcAttr, error) {
	if cmd.Caged || len(cmd.Files) > 0 {
		return nil, errors.New("process namespaces and handed over files: not yet on windows")
	}
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}, nil
}

// leaveKeys has nothing to do: this system has no keyrings that are inherited.
func leaveKeys() error { return nil }

// keepFilesIn has nothing to do: handles are inherited by list only.
func keepFilesIn() error { return nil }

func waitExit(int) bool { return false }

// signalGroup does nothing: this system has no process groups to signal.
func signalGroup(int, syscall.Signal) {}

// lighten has nothing to do: only Linux weighs sessions.
func lighten(int) {}
