package boot

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/names"
	"aibox/internal/guest/relay"
	"aibox/internal/wire"
)

// mountStream mounts the shares by 9p over a stream of the link. The kernel gets
// one end of a socket pair, since a stream is no file; the other is carried to
// the host until the mount ends.
func (m *machine) mountStream() error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	theirs := os.NewFile(uintptr(fds[0]), "9p")
	defer theirs.Close() // the mount has its own
	own := os.NewFile(uintptr(fds[1]), "9p")
	conn, err := net.FileConn(own)
	own.Close()
	if err != nil {
		return err
	}
	stream, err := m.link.Open(wire.ServiceShares)
	if err != nil {
		conn.Close()
		return err
	}
	go relay.Join(conn.(*net.UnixConn), stream)
	return unix.Mount("aibox", names.Shares, "9p", shareFlags, ninepOptions(fds[0]))
}

// ninepOptions are the mount's. What a program reads and writes passes no cache,
// so that nothing of the host's is ever seen late or cut off; pages that programs
// map are kept and written back. All users share one attachment: who may do what
// is decided by the files' modes, and on the host all are one user.
func ninepOptions(fd int) string {
	return fmt.Sprintf("trans=fd,rfdno=%d,wfdno=%d,version=9p2000.L,msize=%d,cache=mmap,access=any", fd, fd, wire.ShareMessage)
}
