package boot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

func (m *machine) mountKernel() error {
	memory, err := totalMemory()
	if err != nil {
		return err
	}
	m.memory = memory
	for _, p := range kernelMounts(memory) {
		if err := mountOne(p); err != nil {
			if p.must {
				return err
			}
			m.note(err.Error())
		}
	}
	return nil
}

func mountOne(p mountPoint) error {
	if err := os.MkdirAll(p.target, 0o755); err != nil {
		return err
	}
	var flags uintptr
	for flag, bit := range map[mountFlag]uintptr{noSuid: unix.MS_NOSUID, noDev: unix.MS_NODEV, noExec: unix.MS_NOEXEC} {
		if p.flags&flag != 0 {
			flags |= bit
		}
	}
	if err := unix.Mount(p.kind, p.target, p.kind, flags, p.options); err != nil {
		return fmt.Errorf("mount %s at %s: %w", p.kind, p.target, err)
	}
	return nil
}

// prepareDevices adds the names that shells expect, and opens to the user what
// the kernel leaves to root.
func prepareDevices() error {
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, filepath.Join("/dev", name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for _, name := range []string{"fuse", "kvm"} {
		if err := os.Chmod(filepath.Join("/dev", name), 0o666); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// setKernel sets all it can and reports a value that a known setting refused.
func setKernel() error {
	var failed []error
	for _, s := range kernelSettings() {
		err := os.WriteFile(filepath.Join("/proc/sys", s.name), []byte(s.value), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// raiseLoopback brings lo up; the kernel gives it its two addresses then.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	return nil
}

// clockTolerance is what the message itself may have taken.
const clockTolerance = 20 * time.Millisecond

func (m *machine) setClock() error {
	host := time.Unix(0, m.boot.UnixNano)
	if off := time.Until(host); m.boot.UnixNano == 0 || off.Abs() < clockTolerance {
		return nil
	}
	tv := unix.NsecToTimeval(m.boot.UnixNano)
	if err := unix.Settimeofday(&tv); err != nil {
		return fmt.Errorf("set clock: %w", err)
	}
	return nil
}
