package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func kernelTries() []try {
	return []try{
		{"make a user namespace and mount in it", mountInNamespace},
		{"mount", func(t Target) error { return unix.Mount("none", "/proc", "tmpfs", 0, "") }},
		{"mount a read-only tree writable", func(t Target) error {
			if t.Bare {
				return errSafe
			}
			for _, at := range append([]string{"/", "/usr", "/shares"}, t.ReadOnly...) {
				if unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND, "") == nil || unix.Unmount(at, unix.MNT_DETACH) == nil {
					return nil
				}
			}
			return errors.New("no mount changed")
		}},
		{"change the root", func(Target) error { return unix.Chroot("/") }},
		{"load a module", func(Target) error { return initModule() }},
		{"load a BPF program", func(Target) error { return bpf() }},
		{"load another kernel", func(Target) error { return call(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0) }},
		{"watch the whole machine's performance", func(Target) error {
			fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}, -1, 0, -1, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
		{"read a key of the user's session", readKey},
		{"attach the user's shared memory", func(t Target) error {
			_, err := unix.SysvShmAttach(t.Shm, 0, unix.SHM_RDONLY)
			return err
		}},
		{"make a device node and open it", makeDevice},
		{"open a device of the host", openDevices},
		{"set the host's name", func(Target) error { return unix.Sethostname([]byte("owned")) }},
		{"set the clock", func(Target) error {
			var tv unix.Timeval
			_ = unix.Gettimeofday(&tv)
			return unix.Settimeofday(&tv)
		}},
		{"change a setting of the kernel", func(t Target) error {
			for _, name := range []string{"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches"} {
				if f, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
					f.Close()
					return nil
				}
			}
			return errors.New("none can be opened")
		}},
		{"type into the user's terminal", func(Target) error {
			f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSTI, 'x')
		}},
		{"change the sealed kernel", changeKernel},
	}
}

func call(nr uintptr, a, b, c, d uintptr) error {
	if _, _, errno := syscall.Syscall6(nr, a, b, c, d, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func initModule() error {
	image := []byte("\x7fELF no module")
	params := []byte{0}
	err := call(unix.SYS_INIT_MODULE, uintptr(unsafe.Pointer(&image[0])), uintptr(len(image)), uintptr(unsafe.Pointer(&params[0])), 0)
	if err == unix.ENOEXEC { // the kernel looked at it
		return nil
	}
	return err
}

// bpf loads a socket filter that says 0.
func bpf() error {
	code := []uint64{0x00000000000000b7, 0x0000000000000095}
	license := []byte("GPL\x00")
	attr := struct {
		kind, count    uint32
		code, license  uint64
		level, size    uint32
		buffer         uint64
		version, flags uint32
	}{1, uint32(len(code)), uint64(uintptr(unsafe.Pointer(&code[0]))), uint64(uintptr(unsafe.Pointer(&license[0]))), 0, 0, 0, 0, 0}
	return call(unix.SYS_BPF, 5, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
}

func readKey(t Target) error {
	for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_PROCESS_KEYRING} {
		id, err := unix.KeyctlSearch(ring, "user", t.Key, 0)
		if err != nil {
			continue
		}
		b := make([]byte, 100)
		if n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b, 0); err == nil && n > 0 {
			return nil
		}
	}
	return errors.New("no keyring has it")
}

func makeDevice(t Target) error {
	dirs := append([]string{"/", "/tmp", "/dev"}, t.Writable...)
	if t.Bare {
		dirs = []string{t.Scratch}
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, "node")
		err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 11))) // /dev/kmsg
		if err != nil {
			continue
		}
		_, err = os.ReadFile(path)
		os.Remove(path)
		return err
	}
	return errors.New("no node could be made")
}

func openDevices(Target) error {
	for _, name := range []string{"/dev/kvm", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/net/tun", "/dev/ptmx", "/dev/full", "/dev/vhost-vsock", "/dev/console"} {
		if f, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
			f.Close()
			return nil
		}
	}
	return errors.New("none can be opened")
}

// changeKernel writes into the memory file that QEMU boots.
func changeKernel(t Target) error {
	fd, ok := t.FDs["kernel"]
	if !ok {
		return errSafe
	}
	if _, err := unix.Pwrite(fd, []byte("owned"), 0); err == nil {
		return nil
	}
	if unix.Ftruncate(fd, 0) == nil {
		return nil
	}
	f, err := os.OpenFile("/proc/self/fd/"+itoa(fd), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		return nil
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, 0); err == nil {
		return nil
	}
	_, err = f.WriteAt([]byte("owned"), 0)
	return err
}

// mountInNamespace asks a copy of this program, which is single-threaded until
// it asks, to do what the name says.
func mountInNamespace(t Target) error {
	cmd := exec.Command("/proc/self/exe", "vm", "mount")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return cmd.Run()
}
