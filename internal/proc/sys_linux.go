package proc

import (
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const rootDir = "/"

// sysAttributes asks for a session of its own, which has no terminal and is a
// process group, and for SIGKILL when aibox ends.
func sysAttributes(cmd Cmd) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if cmd.Caged {
		attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID
		attr.UidMappings = same(os.Getuid())
		attr.GidMappings = same(os.Getgid())
	}
	return attr, nil
}

// keepFilesIn marks every open file but the standard ones to be closed on
// execution. Go does so for the files it opens, but not for those that aibox
// itself inherited from the user's shell, which must not reach a sandbox.
func keepFilesIn() error {
	return unix.CloseRange(firstFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// leaveKeys gives the thread, and so what it starts, a session keyring of its
// own: the user's can hold credentials, and no namespace hides it. A machine
// without keyrings, or a container that forbids them, has nothing to leave.
func leaveKeys() error {
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
	if err == unix.ENOSYS || err == unix.EPERM {
		return nil
	}
	return err
}

// lightNice is the nice value of a light program's session.
const lightNice = "10"

// lighten lowers the weight of the session that a program leads. A kernel with
// autogroups gives each session the weight of one task, be it a file server that
// mostly waits or the VM with all its processors. Measured on two processors under
// emulation, file access from the VM takes some fifth less time with this. In a
// control group with a weight of its own there are no autogroups, and this changes
// nothing. The kernel takes one such wish in 100 ms from all users, so the second of
// two is lost, which costs nothing but speed.
func lighten(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(lightNice), 0)
}

func same(id int) []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
}

// waitExit returns true when the process has ended and is not yet reaped: its
// number, which is its group's too, cannot be reused before that.
func waitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

func signalGroup(pid int, sig syscall.Signal) { _ = syscall.Kill(-pid, sig) }
