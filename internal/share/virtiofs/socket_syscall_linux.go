package virtiofs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aibox/internal/fault"

	"golang.org/x/sys/unix"
)

// listen returns a listening socket and an end connected to it. The path that
// connecting needs is in a folder of the user's alone and is gone on return.
func listen() (listener, connected *os.File, err error) {
	dir, err := os.MkdirTemp("", "aibox-")
	if err != nil {
		return nil, nil, fault.New(fault.Machine, "check the folder for temporary files, which TMPDIR names", "%w", err)
	}
	defer os.RemoveAll(dir)
	d, err := os.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	// By the folder's number, since a socket's path may have only 107 bytes.
	address := &unix.SockaddrUnix{Name: filepath.Join(fmt.Sprintf("/proc/self/fd/%d", d.Fd()), "s")}
	listener, err = socket("listener", func(fd int) error {
		return errors.Join(unix.Bind(fd, address), unix.Listen(fd, 1))
	})
	if err != nil {
		return nil, nil, err
	}
	connected, err = socket("shares", func(fd int) error { return unix.Connect(fd, address) })
	if err != nil {
		listener.Close()
		return nil, nil, err
	}
	return listener, connected, nil
}

func socket(name string, setUp func(fd int) error) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := setUp(fd); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), name), nil
}

// maxFiles is the most open files that the user may have, within reason.
func maxFiles() int {
	const enough = 1 << 20
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Max > enough {
		return enough
	}
	return int(l.Max)
}
