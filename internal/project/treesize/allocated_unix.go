//go:build unix

package treesize

import (
	"io/fs"
	"os"
	"syscall"
)

// openFolder waits for no FIFO.
const openFolder = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NONBLOCK

// Allocated is how many bytes of the disk the file takes.
func Allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}
