package ninep

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/wire"
)

// hostTimeout is how long the host may take to open its end, which it does
// before the kernel runs; what is waited for is that the kernel hears of it.
const hostTimeout = 30 * time.Second

// Mount mounts the shares at target over the serial port with the device path,
// which the kernel's 9p reads and writes by itself from then on.
func Mount(path, target string, flags uintptr) error {
	port, err := Open(path)
	if err != nil {
		return err
	}
	defer unix.Close(port) // the mount has its own
	return unix.Mount("aibox", target, "9p", flags, fmt.Sprintf("trans=fd,rfdno=%d,wfdno=%d,", port, port)+Options())
}

// Open opens the serial port with the device path for a mount by trans=fd.
func Open(path string) (int, error) {
	port, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	if err := awaitHost(port, hostTimeout); err != nil {
		unix.Close(port)
		return -1, fmt.Errorf("%s: %w", path, err)
	}
	return port, nil
}

// awaitHost waits until the host has opened its end of a port. Before that the
// port looks like one whose host has gone, and 9p would give up.
func awaitHost(port int, timeout time.Duration) error {
	poll := []unix.PollFd{{Fd: int32(port), Events: unix.POLLOUT}}
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		switch _, err := unix.Poll(poll, 0); {
		case err != nil && err != unix.EINTR:
			return err
		case err == nil && poll[0].Revents == unix.POLLOUT:
			return nil
		}
	}
	return errors.New("the host did not open its end")
}

// Options are the mount's without its transport. What a program reads and writes
// passes no cache, so that nothing of the host's is ever seen late or cut off; pages
// that programs map are kept and written back. All users share one attachment: who
// may do what is decided by the files' modes, and on the host all are one user.
func Options() string {
	return fmt.Sprintf("version=9p2000.L,msize=%d,cache=mmap,access=any", wire.ShareMessage)
}
