package qemu

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// From the kernel's include/uapi/linux/kvm.h.
const (
	kvmGetAPIVersion = 0xae00
	kvmCreateVM      = 0xae01
	kvmAPIVersion    = 12
)

// tryKVM makes a VM and drops it. A device that opens can still be unable to.
func tryKVM(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	version, err := unix.IoctlRetInt(int(f.Fd()), kvmGetAPIVersion)
	if err != nil {
		return fmt.Errorf("%s: ask for its version: %w", path, err)
	}
	if version != kvmAPIVersion {
		return fmt.Errorf("%s: has version %d, want %d", path, version, kvmAPIVersion)
	}
	machine, err := unix.IoctlRetInt(int(f.Fd()), kvmCreateVM)
	if err != nil {
		return fmt.Errorf("%s: make a VM: %w", path, err)
	}
	return unix.Close(machine)
}

// hostMemory returns the machine's memory in MiB, 0 if unknown.
func hostMemory() int {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int(info.Totalram * uint64(info.Unit) >> 20)
}

// socketPair returns two connected sockets that no path leads to.
func socketPair(name string) (host, guest *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	// Non-blocking on aibox's side only, so that reads can be ended by Close.
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name), nil
}
