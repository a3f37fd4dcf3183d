//go:build unix

package away

import (
	"io/fs"
	"syscall"
)

// device tells apart file systems.
func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
