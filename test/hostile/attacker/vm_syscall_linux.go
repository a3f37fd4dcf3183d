package main

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

func setFileUser(id int) error {
	if _, err := unix.SetfsuidRetUid(id); err != nil {
		return err
	}
	if _, err := unix.SetfsgidRetGid(id); err != nil {
		return err
	}
	return nil
}

// linkSetID makes a setuid file without a name and then gives it one.
func linkSetID(dir string) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR, 0o4755)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_ = unix.Fchmod(fd, 0o6755)
	if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, filepath.Join(dir, "tmpfile"), unix.AT_SYMLINK_FOLLOW); err != nil {
		return err
	}
	fi, err := os.Stat(filepath.Join(dir, "tmpfile"))
	if err == nil && fi.Mode()&(os.ModeSetuid|os.ModeSetgid) == 0 {
		err = fmt.Errorf("refused: the mode is %v", fi.Mode())
	}
	return err
}

func connectVsock() error {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var last error
	for _, cid := range []uint32{2, 1, 0} {
		for _, port := range []uint32{1, 22, 1024, 3128} {
			if last = unix.Connect(fd, &unix.SockaddrVM{CID: cid, Port: port}); last == nil {
				return nil
			}
		}
	}
	return last
}

// sgHeader is the kernel's struct sg_io_hdr.
type sgHeader struct {
	id, direction           int32
	command, maxSense       uint8
	vectors                 uint16
	length                  uint32
	data, commandAt, sense  uint64
	timeout, flags          uint32
	pack                    int32
	user                    uint64
	status, masked, message uint8
	senseWritten            uint8
	host, driver            uint16
	residue                 int32
	duration, info          uint32
}

// passthrough sends a SCSI command to the host's disk behind a virtual one.
func passthrough(disk string) error {
	f, err := os.OpenFile(disk, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	inquiry := []byte{0x12, 0, 0, 0, 96, 0}
	data := make([]byte, 96)
	h := sgHeader{id: 'S', direction: -3, command: uint8(len(inquiry)), length: uint32(len(data)),
		data: uint64(uintptr(unsafe.Pointer(&data[0]))), commandAt: uint64(uintptr(unsafe.Pointer(&inquiry[0]))), timeout: 1000}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), 0x2285, uintptr(unsafe.Pointer(&h)))
	if errno != 0 {
		return errno
	}
	return nil
}
