package proto

import "fmt"

// Errno is an error's number in Linux on most machines, which Rlerror carries.
type Errno uint32

// The errors that the server itself answers with.
const (
	EPERM        Errno = 1
	ENOENT       Errno = 2
	EIO          Errno = 5
	ENXIO        Errno = 6
	EBADF        Errno = 9
	EACCES       Errno = 13
	EBUSY        Errno = 16
	EEXIST       Errno = 17
	EXDEV        Errno = 18
	ENOTDIR      Errno = 20
	EISDIR       Errno = 21
	EINVAL       Errno = 22
	ENFILE       Errno = 23
	EMFILE       Errno = 24
	EFBIG        Errno = 27
	ENOSPC       Errno = 28
	EROFS        Errno = 30
	ENAMETOOLONG Errno = 36
	ENOTEMPTY    Errno = 39
	ELOOP        Errno = 40
	EPROTO       Errno = 71
	EOPNOTSUPP   Errno = 95
)

// Error implements error.
func (e Errno) Error() string { return fmt.Sprintf("errno %d", uint32(e)) }
