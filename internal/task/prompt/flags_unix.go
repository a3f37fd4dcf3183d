//go:build unix

package prompt

import "syscall"

// Flags with which no link is followed and no FIFO is waited for.
const (
	noFollow   = syscall.O_NOFOLLOW
	plainFlags = noFollow | syscall.O_NONBLOCK
)
