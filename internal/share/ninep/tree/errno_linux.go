package tree

import (
	"errors"
	"syscall"

	"aibox/internal/share/ninep/proto"
)

// systemErrno passes the kernel's own number on: the VM's is Linux too.
func systemErrno(err error) (proto.Errno, bool) {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return 0, false
	}
	return proto.Errno(number), true
}
