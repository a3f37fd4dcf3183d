package ninep

import (
	"bytes"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func pair(t *testing.T) (int, *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[1]), "end")
	t.Cleanup(func() { f.Close() })
	return fds[0], f
}

// Both directions carry every byte, and the end of one side is the other's.
func TestCarryMount(t *testing.T) {
	port, host := pair(t)
	socket, kernel := pair(t)
	go carryMount(port, socket)
	text := bytes.Repeat([]byte("0123456789abcdef"), 20000)
	for _, way := range [][2]*os.File{{kernel, host}, {host, kernel}, {kernel, host}} {
		go func() { _, _ = way[0].Write(text) }()
		got := make([]byte, len(text))
		if _, err := io.ReadFull(way[1], got); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%v, equal %v", err, bytes.Equal(got, text))
		}
	}
	host.Close()
	if _, err := kernel.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the kernel's end after the host's: %v", err)
	}
}
