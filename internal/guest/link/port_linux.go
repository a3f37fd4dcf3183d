package link

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// OpenPort waits for the virtio serial port called name and opens it.
func OpenPort(name string, timeout time.Duration) (net.Conn, error) {
	path, err := FindPort(name, timeout)
	if err != nil {
		return nil, err
	}
	return open(path)
}

// FindPort waits for the virtio serial port called name and returns its device's
// path. The kernel learns ports and their names from the host after the device
// was found, so init can be faster; each change comes with a kernel event.
func FindPort(name string, timeout time.Duration) (string, error) {
	deadline := time.Now().Add(timeout)
	events, err := listen()
	if err != nil {
		return "", fmt.Errorf("listen for kernel events: %w", err)
	}
	defer unix.Close(events)
	for {
		found, err := findPort("/sys/class/virtio-ports", name)
		if err == nil {
			return filepath.Join("/dev", found), nil
		}
		if !errors.Is(err, os.ErrNotExist) || time.Now().After(deadline) {
			return "", err
		}
		await(events, time.Until(deadline))
	}
}

// open opens the port for Go's poller. A write then waits until the host has
// opened its end; a read before that would report the end of the stream, so
// the hello that is written first also orders these.
func open(path string) (net.Conn, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return port{os.NewFile(uintptr(fd), path)}, nil
}

// port is a serial port as a net.Conn.
type port struct{ *os.File }

func (p port) LocalAddr() net.Addr  { return address(p.Name()) }
func (p port) RemoteAddr() net.Addr { return address("host") }

type address string

func (address) Network() string  { return "virtio" }
func (a address) String() string { return string(a) }

// findPort returns the device name of the port called name, such as "vport0p1".
func findPort(class, name string) (string, error) {
	files, err := filepath.Glob(filepath.Join(class, "*", "name"))
	if err != nil {
		return "", fmt.Errorf("list ports: %w", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && strings.TrimSpace(string(b)) == name {
			return filepath.Base(filepath.Dir(f)), nil
		}
	}
	return "", fmt.Errorf("virtio serial port %s: %w", name, os.ErrNotExist)
}

func listen() (int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// await returns after the next kernel events, or after timeout.
func await(events int, timeout time.Duration) {
	poll := []unix.PollFd{{Fd: int32(events), Events: unix.POLLIN}}
	_, _ = unix.Poll(poll, max(1, int(timeout.Milliseconds())))
	buf := make([]byte, 4096)
	for {
		if _, err := unix.Read(events, buf); err != nil {
			return
		}
	}
}
