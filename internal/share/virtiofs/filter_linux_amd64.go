package virtiofs

import "golang.org/x/sys/unix"

// filterProgram is for amd64; bit 30 of a call's number asks for the x32 calls.
func filterProgram() []byte {
	return encode(program(unix.AUDIT_ARCH_X86_64, 1<<30, []rule{
		{unix.SYS_OPENAT, 3, 2}, {unix.SYS_OPEN, 2, 1}, {unix.SYS_CREAT, 1, -1},
		{unix.SYS_FCHMODAT, 2, -1}, {unix.SYS_FCHMODAT2, 2, -1}, {unix.SYS_FCHMOD, 1, -1}, {unix.SYS_CHMOD, 1, -1},
		{unix.SYS_MKNODAT, 2, -1}, {unix.SYS_MKNOD, 1, -1}, {unix.SYS_MKDIRAT, 2, -1}, {unix.SYS_MKDIR, 1, -1},
	}, []uint32{unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP}))
}
