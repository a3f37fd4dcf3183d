// Package names holds the paths of the VM that more than one guest package
// uses. What the host knows too is in package wire instead.
package names

import "strconv"

// Paths of init's own, below a folder that only root may enter.
const (
	Private = "/run/aibox"
	Shares  = Private + "/shares" // the share device
	State   = Private + "/state"  // the state disk

	// TaskWork takes the results of a task, on the state disk.
	TaskWork = State + "/results"
)

// Paths of the kernel and the image.
const (
	Cgroup      = "/sys/fs/cgroup"
	StateDevice = "/dev/vdb"
	Init        = "/usr/sbin/aibox-init"
	Shell       = "/bin/bash"
	Mke2fs      = "/usr/sbin/mke2fs"
	E2fsck      = "/usr/sbin/e2fsck"

	// TestRoot exists in the image for tests only and gives its user root, so
	// that tests can do what a user who became root could do. Where it exists
	// it keeps its set-user-id bit, and sessions may get privileges back.
	TestRoot = "/usr/lib/aibox-test/root"
)

// RuntimeDir is the user's XDG_RUNTIME_DIR.
func RuntimeDir(uid int) string { return "/run/user/" + strconv.Itoa(uid) }
