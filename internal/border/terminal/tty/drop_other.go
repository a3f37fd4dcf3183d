//go:build !linux

package tty

import "os"

// dropInput is only done on Linux so far.
func dropInput(*os.File) {}
