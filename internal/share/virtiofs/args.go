package virtiofs

import (
	"fmt"
	"math"
)

// tree is the folder in the sandbox that is served.
const tree = "/shares"

// Line is all that virtiofsd's command line depends on.
type Line struct {
	Socket   int // number of the listening socket
	UID, GID int // of the host's user
	MaxFiles int // open files; each folder and file that the VM knows is one
}

// Args returns virtiofsd's arguments without its own name.
func Args(l Line) []string {
	return []string{
		fmt.Sprintf("--fd=%d", l.Socket),
		"--shared-dir=" + tree,
		// Bubblewrap made the sandbox. The server's own seccomp filter stays on.
		"--sandbox=none", "--seccomp=kill",
		// Each bind is a device of its own to the VM, so that inode numbers of two
		// folders are not mistaken for each other.
		"--announce-submounts",
		// Handles need a capability of the host that the server has not.
		"--inode-file-handles=never",
		// With any other cache the VM trusts a file's size for a second, and a file that
		// the host made longer in that second is read cut off: an editor or formatter in
		// the VM would write it back so. Shared mappings, which databases use, stay
		// possible; only they can show old bytes.
		"--cache=never", "--allow-mmap",
		// Whoever the VM says it is, root included, acts as the host's user.
		fmt.Sprintf("--translate-uid=squash-guest:0:%d:%d", l.UID, uint32(math.MaxUint32)),
		fmt.Sprintf("--translate-gid=squash-guest:0:%d:%d", l.GID, uint32(math.MaxUint32)),
		fmt.Sprintf("--rlimit-nofile=%d", l.MaxFiles),
		"--log-level=warn",
	}
}
