package ninep

import (
	"fmt"

	"golang.org/x/sys/unix"

	"aibox/internal/wire"
)

// Mount mounts the shares at target over the serial port with the device path.
// The kernel gets one end of a socket pair, since it takes no port for a
// connection; the other is carried to the host until the mount ends.
func Mount(path, target string, flags uintptr) error {
	port, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for _, end := range ends {
		// Else a long request takes several turns; without it they are slower, no more.
		_ = unix.SetsockoptInt(end, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 4*wire.ShareMessage)
	}
	go carryMount(port, ends[1])
	err = unix.Mount("aibox", target, "9p", flags, options(ends[0]))
	unix.Close(ends[0]) // the mount has its own
	return err
}

// buffer is a direction's buffer in bytes: the longest message, in whole pages.
const buffer = (wire.ShareMessage + 4095) &^ 4095

// carryMount carries bytes between a port and a mount's socket. The calls block,
// each in a thread of its own: Go's poller would cost every request two more
// turns of the scheduler. A port that is read before the host has opened it
// reports its end, so reading begins when the first request was written.
func carryMount(port, socket int) {
	b := make([]byte, buffer)
	n, err := unix.Read(socket, b)
	if err != nil || n == 0 || writeAll(port, b[:n]) != nil {
		_ = unix.Shutdown(socket, unix.SHUT_RDWR)
		return
	}
	go carry(socket, port)
	carry(port, socket)
}

// carry ends both directions of the socket that is one of its ends.
func carry(to, from int) {
	b := make([]byte, buffer)
	for {
		n, err := readMore(from, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 || writeAll(to, b[:n]) != nil {
			break
		}
	}
	// Of the two, the port is no socket and refuses.
	_ = unix.Shutdown(to, unix.SHUT_RDWR)
	_ = unix.Shutdown(from, unix.SHUT_RDWR)
}

// readMore reads what there is. A port gives a page at a time, and each write
// wakes the kernel's 9p, so the pages of a long answer are put together.
func readMore(from int, b []byte) (int, error) {
	const page = 4096
	total := 0
	for {
		n, err := unix.Read(from, b[total:])
		if err != nil && total == 0 {
			return 0, err
		}
		total += max(n, 0)
		if n != page || total+page > len(b) || !readable(from) {
			return total, nil
		}
	}
}

func readable(fd int) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n == 1 && poll[0].Revents&unix.POLLIN != 0
}

func writeAll(to int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(to, b)
		if err != nil && err != unix.EINTR {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}

// options are the mount's. What a program reads and writes passes no cache,
// so that nothing of the host's is ever seen late or cut off; pages that programs
// map are kept and written back. All users share one attachment: who may do what
// is decided by the files' modes, and on the host all are one user.
func options(fd int) string {
	return fmt.Sprintf("trans=fd,rfdno=%d,wfdno=%d,version=9p2000.L,msize=%d,cache=mmap,access=any", fd, fd, wire.ShareMessage)
}
