package boot

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dropBounding removes a capability from the bounding set of all threads: the
// set is each thread's own, and any of them may start a session.
func dropBounding(c uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0)
	if errno != 0 && errno != unix.EINVAL { // EINVAL: not known to this kernel
		return errno
	}
	return nil
}
