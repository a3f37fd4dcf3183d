//go:build unix

package project

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Flags for opening what nobody but aibox should have put there: no link is
// followed and no FIFO is waited for.
const (
	openPlain  = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	openFolder = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NONBLOCK
)

func owner(info fs.FileInfo) (uid int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// writable is nil if the user can make files in the folder.
func writable(path string) error {
	const write, search = 2, 1
	return syscall.Access(path, write|search)
}

func isNoFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
