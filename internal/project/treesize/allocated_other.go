//go:build !unix

package treesize

import (
	"io/fs"
	"os"
)

const openFolder = os.O_RDONLY

// Allocated is how many bytes of the disk the file takes.
func Allocated(info fs.FileInfo) int64 { return info.Size() }
