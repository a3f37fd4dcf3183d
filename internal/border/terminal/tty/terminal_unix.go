//go:build unix

package tty

import (
	"io"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// prepareOutput has nothing to do: terminals read control sequences here.
func prepareOutput(io.Writer) (undo func()) { return func() {} }

// sizeEvents receives after each change of the terminal's size.
func sizeEvents() (events <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

// stoppable reads f, a terminal, whose Read would wait for a key beyond the
// session's end and take it away from the shell.
func stoppable(f *os.File) (r io.Reader, stop func(), err error) {
	wake, end, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	var once sync.Once
	return &pollReader{f: f, fd: int32(f.Fd()), wake: wake}, func() { once.Do(func() { _ = end.Close() }) }, nil
}

type pollReader struct {
	f    *os.File
	fd   int32
	wake *os.File
}

func (r *pollReader) Read(p []byte) (int, error) {
	fds := []unix.PollFd{{Fd: r.fd, Events: unix.POLLIN}, {Fd: int32(r.wake.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, os.NewSyscallError("poll", err)
		}
		if fds[1].Revents != 0 {
			_ = r.wake.Close()
			return 0, ErrStopped
		}
		return r.f.Read(p)
	}
}
