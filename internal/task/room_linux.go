package task

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes room on the disk for a file that is written later, so that it
// can be on a disk that got full meanwhile. Where the file system cannot, it does nothing.
func reserve(f *os.File, size int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
}
