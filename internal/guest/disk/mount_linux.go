package disk

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs a program as root; see Tools.
type Run func(timeout time.Duration, argv ...string) (int, string, error)

// Attach opens the block device at path, makes it usable as Open says, and
// mounts it at dir, nosuid and nodev. scratch is Tools.Scratch.
func Attach(path, dir string, scratch bool, run Run, log func(string)) (fresh bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, fmt.Errorf("open state disk: %w", err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return false, fmt.Errorf("size of state disk: %w", err)
	}
	return Open(f, size, path, Tools{
		Run: run, Log: log, Scratch: scratch,
		Mount: func() error { return mount(path, dir) },
	})
}

func mount(path, dir string) error {
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOATIME)
	if err := unix.Mount(path, dir, "ext4", flags, options(discards(path))); err != nil {
		return fmt.Errorf("mount state disk: %w", err)
	}
	return nil
}

// options: without noinit_itable the kernel would write all tables in the
// background and the file on the host would grow for nothing.
func options(discard bool) string {
	if discard {
		return "errors=remount-ro,noinit_itable,discard"
	}
	return "errors=remount-ro,noinit_itable"
}

// discards tells whether freed blocks can be given back to the host.
func discards(path string) bool {
	b, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(path), "queue/discard_max_bytes"))
	return err == nil && strings.TrimSpace(string(b)) != "0"
}
