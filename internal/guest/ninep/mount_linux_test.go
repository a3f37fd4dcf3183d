package ninep

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAwaitHost takes a socket that is not connected for a port whose host has
// not come yet: both hang up and can be written.
func TestAwaitHost(t *testing.T) {
	socket := func() int {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	host, port := socket(), socket()
	address := &unix.SockaddrUnix{Name: filepath.Join(t.TempDir(), "host")}
	if err := unix.Bind(host, address); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(host, 1); err != nil {
		t.Fatal(err)
	}
	if err := awaitHost(port, 10*time.Millisecond); err == nil {
		t.Error("a host that never came was found")
	}
	found := make(chan error, 1)
	go func() { found <- awaitHost(port, time.Minute) }()
	if err := unix.Connect(port, address); err != nil {
		t.Fatal(err)
	}
	if err := <-found; err != nil {
		t.Errorf("awaitHost = %v", err)
	}
}
