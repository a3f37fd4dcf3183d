//go:build unix

package usersetup

import "syscall"

// nonblock keeps the opening of a FIFO from waiting for its writer.
const nonblock = syscall.O_NONBLOCK
