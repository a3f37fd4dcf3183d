package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropInput forgets what the terminal sent and nobody has read.
func dropInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
