//go:build !unix

package project

import (
	"io/fs"
	"os"
)

const (
	openPlain  = 0
	openFolder = os.O_RDONLY
)

func owner(fs.FileInfo) (uid int, known bool) { return 0, false }

func writable(string) error { return nil }

func isNoFolder(error) bool { return false }
