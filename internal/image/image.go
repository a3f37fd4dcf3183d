// Package image finds the VM's kernel and root disk, checks them and opens
// them. The bytes that were checked are the bytes that boot: the kernel is copied
// into sealed memory first and checked there, so no change to the file counts.
package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"aibox/internal/fault"
)

// Names of the files of an image.
const (
	KernelName   = "vmlinuz"
	RootDiskName = "os.ext4"
)

// Image is an opened image. Close both files when the machine was started.
type Image struct {
	Dir string
	// Kernel is a copy in memory that nothing can change, read from its start.
	Kernel *os.File
	// RootDisk is open for reading only.
	RootDisk *os.File
	// Checked tells whether the kernel was compared with a digest.
	Checked bool
}

// Open opens the image in dir. The kernel must have digests.Kernel, unless that is
// empty, and both files must be complete. The root disk's digest is not checked
// here: it is what a download is checked against once.
func Open(dir string, digests Digests) (*Image, error) {
	kernel, err := openKernel(filepath.Join(dir, KernelName), digests.Kernel)
	if err != nil {
		return nil, err
	}
	disk, err := openRootDisk(filepath.Join(dir, RootDiskName))
	if err != nil {
		kernel.Close()
		return nil, err
	}
	return &Image{Dir: dir, Kernel: kernel, RootDisk: disk, Checked: digests.Kernel != ""}, nil
}

// Close closes both files.
func (i *Image) Close() error { return errors.Join(i.Kernel.Close(), i.RootDisk.Close()) }

// open opens a regular file; a FIFO or device must not hang the start.
func open(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, 0, unusable(path, err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, unusable(path, err)
	}
	return f, st.Size(), nil
}

const rebuild = "build the image again: make image"

func unusable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, syscall.ENOENT) {
		return fault.New(fault.Machine, "build an image: make image; or name another one: --image DIR", "the image has no %s", path)
	}
	return fault.New(fault.Machine, rebuild, "the image's file %s cannot be used: %w", path, err)
}

// damaged is unusable with a reason of this package.
func damaged(path, format string, args ...any) error {
	return unusable(path, fmt.Errorf(format, args...))
}
