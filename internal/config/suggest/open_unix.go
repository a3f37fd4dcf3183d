//go:build unix

package suggest

import "syscall"

// openPlain follows no link and waits for no FIFO's writer.
const openPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
