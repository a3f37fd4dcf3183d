package jail

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"aibox/internal/jail/seccomp"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

func (s *stage) file(name string) string { return filepath.Join(s.Dir, name) }

// forbidden is what a compromised aibox would try. Each works without a policy.
func forbidden() []action {
	return append(append(forbiddenFiles(), forbiddenNetwork()...), forbiddenProcesses()...)
}

func readAll(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

func openFor(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func forbiddenFiles() []action {
	return []action{
		{"read /etc/passwd", func(*stage) error { return readAll("/etc/passwd") }, nil},
		{"read user's file", func(s *stage) error { return readAll(s.file("secret")) }, nil},
		{"read environment", func(*stage) error { return readAll("/proc/self/environ") }, nil},
		{"read parent's command", func(*stage) error { return readAll("/proc/1/cmdline") }, nil},
		{"open own memory", func(*stage) error { return openFor("/proc/self/mem", os.O_RDWR) }, nil},
		{"open log again", func(*stage) error { return openFor("/proc/self/fd/3", os.O_RDONLY) }, nil},
		{"list root", func(*stage) error { _, err := os.ReadDir("/"); return err }, nil},
		{"list /etc", func(*stage) error { _, err := os.ReadDir("/etc"); return err }, nil},
		{"list user's folder", func(s *stage) error { _, err := os.ReadDir(s.Dir); return err }, nil},
		{"create file", func(s *stage) error { return openFor(s.file("new"), os.O_CREATE|os.O_WRONLY) }, nil},
		{"write file", func(s *stage) error { return openFor(s.file("write"), os.O_WRONLY) }, nil},
		{"append to file", func(s *stage) error { return openFor(s.file("append"), os.O_WRONLY|os.O_APPEND) }, nil},
		{"truncate file", func(s *stage) error { return os.Truncate(s.file("truncate"), 0) }, nil},
		{"remove file", func(s *stage) error { return os.Remove(s.file("remove")) }, nil},
		{"rename file", func(s *stage) error { return os.Rename(s.file("rename"), s.file("renamed")) }, nil},
		{"make folder", func(s *stage) error { return os.Mkdir(s.file("folder"), 0o700) }, nil},
		{"make symlink", func(s *stage) error { return os.Symlink("secret", s.file("symlink")) }, nil},
		{"make hard link", func(s *stage) error { return os.Link(s.file("link"), s.file("hard")) }, nil},
		{"make FIFO", func(s *stage) error { return unix.Mkfifo(s.file("fifo"), 0o600) }, nil},
		{"change mode", func(s *stage) error { return os.Chmod(s.file("chmod"), 0o777) }, nil},
		{"change owner", func(s *stage) error { return os.Chown(s.file("chown"), os.Getuid(), -1) }, nil},
		{"change times", func(s *stage) error { return unix.Utimes(s.file("times"), make([]unix.Timeval, 2)) }, nil},
		{"set attribute", func(s *stage) error { return unix.Setxattr(s.file("xattr"), "user.x", []byte("y"), 0) }, []syscall.Errno{unix.ENOTSUP}},
		{"change folder", func(s *stage) error { return os.Chdir(s.Dir) }, nil},
		{"list from an older thread", onOldThreads(func() error { _, err := os.ReadDir("/"); return err }), nil},
	}
}

// onOldThreads fails if one of the threads that are older than the policy was
// refused, and works if each of them got through.
func onOldThreads(try func() error) func(*stage) error {
	return func(s *stage) error {
		worked := 0
		var refused error
		for _, thread := range s.threads {
			done := make(chan error)
			thread <- func() { done <- try() }
			if err := <-done; err != nil {
				refused = err
			} else {
				worked++
			}
		}
		if refused != nil && worked > 0 {
			return errors.New("some threads are confined and some are not")
		}
		return refused
	}
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	return c.Close()
}

func forbiddenNetwork() []action {
	return []action{
		{"connect to another port", func(s *stage) error { return dial("tcp4", s.Refused) }, nil},
		{"connect to another port over IPv6", func(s *stage) error { return dial("tcp6", s.Refused6) }, nil},
		{"connect from an older thread", func(s *stage) error {
			return onOldThreads(func() error { return dial("tcp4", s.Refused) })(s)
		}, nil},
		{"connect by MPTCP", func(s *stage) error {
			return rawTCP(s.Refused, unix.IPPROTO_MPTCP, func(fd int, to unix.Sockaddr) error { return unix.Connect(fd, to) })
		}, []syscall.Errno{unix.EPROTONOSUPPORT, unix.ENOPROTOOPT, unix.EINVAL}},
		{"connect by fast open", func(s *stage) error {
			return rawTCP(s.Refused, 0, func(fd int, to unix.Sockaddr) error {
				return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, to)
			})
		}, nil},
		{"connect by fast open message", func(s *stage) error {
			return rawTCP(s.Refused, 0, func(fd int, to unix.Sockaddr) error {
				return unix.Sendmsg(fd, []byte("x"), nil, to, unix.MSG_FASTOPEN)
			})
		}, nil},
		{"listen on TCP", func(*stage) error { return listenOnce("tcp4", "127.0.0.1:0") }, nil},
		{"bind UDP", func(*stage) error {
			c, err := net.ListenPacket("udp4", "127.0.0.1:0")
			if err == nil {
				c.Close()
			}
			return err
		}, nil},
		{"listen on unix socket", func(s *stage) error { return listenOnce("unix", s.file("mine")) }, nil},
		{"connect to unix socket", func(s *stage) error { return dial("unix", s.UnixPath) }, nil},
		{"connect to abstract socket", func(s *stage) error { return dial("unix", s.UnixAbstract) }, nil},
		{"send to unix socket", func(s *stage) error { return dial("unixgram", s.UnixDatagram) }, nil},
		{"socket pair", func(*stage) error {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err == nil {
				unix.Close(fds[0])
				unix.Close(fds[1])
			}
			return err
		}, nil},
		{"netlink", func(*stage) error { return openSocket(unix.AF_NETLINK, unix.SOCK_RAW, 0) }, nil},
		{"kernel crypto socket", func(*stage) error { return openSocket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }, []syscall.Errno{unix.EAFNOSUPPORT}},
		{"set another option", func(s *stage) error {
			return rawTCP(s.Refused, 0, func(fd int, _ unix.Sockaddr) error {
				return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, 8)
			})
		}, nil},
	}
}

func listenOnce(network, address string) error {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(context.Background(), network, address)
	if err != nil {
		return err
	}
	return l.Close()
}

func openSocket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	return unix.Close(fd)
}

// rawTCP gives a new socket and the address to use; a connection that is only
// under way counts as made.
func rawTCP(address string, protocol int, use func(int, unix.Sockaddr) error) error {
	to, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	err = use(fd, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())})
	if err == unix.EINPROGRESS {
		return nil
	}
	return err
}

func forbiddenProcesses() []action {
	return []action{
		{"start program", func(*stage) error { return exec.Command("/bin/true").Run() }, nil},
		{"signal parent", func(*stage) error { return unix.Kill(os.Getppid(), 0) }, nil},
		{"signal everybody", func(*stage) error { return unix.Kill(-1, 0) }, nil},
		{"signal parent's thread", func(*stage) error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) }, nil},
		{"open parent", func(*stage) error {
			fd, err := unix.PidfdOpen(os.Getppid(), 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}, nil},
		{"signal by file owner", func(s *stage) error {
			_, err := unix.FcntlInt(s.log.Fd(), unix.F_SETOWN, os.Getppid())
			return err
		}, nil},
		{"queue signal", func(*stage) error {
			info := [128]byte{}
			*(*int32)(unsafe.Pointer(&info[8])) = -1 // SI_QUEUE
			return errnoOf(unix.SYS_RT_SIGQUEUEINFO, uintptr(os.Getppid()), 0, uintptr(unsafe.Pointer(&info)))
		}, nil},
		{"map code", func(*stage) error {
			b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err == nil {
				err = unix.Munmap(b)
			}
			return err
		}, nil},
		{"make data code", func(*stage) error {
			b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err != nil {
				return err
			}
			defer func() { _ = unix.Munmap(b) }()
			return unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC)
		}, nil},
		{"memory file", func(*stage) error {
			fd, err := unix.MemfdCreate("x", 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}, nil},
		{"allow dumps", func(*stage) error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }, nil},
		{"change users", func(*stage) error { return errnoOf(unix.SYS_SETRESUID, ^uintptr(0), ^uintptr(0), ^uintptr(0)) }, nil},
		{"set window size", func(s *stage) error {
			return unix.IoctlSetWinsize(int(s.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 1, Col: 1})
		}, nil},
		// Where the terminal is not the victim's own or the kernel has this off, it
		// fails anyhow; the filter's own test has it too.
		{"type for the user", func(s *stage) error {
			c := byte('x')
			return errnoOf(unix.SYS_IOCTL, s.tty.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
		}, []syscall.Errno{unix.EIO, unix.EPERM}},
	}
}

func errnoOf(nr, a, b, c uintptr) error {
	if _, _, errno := unix.Syscall(nr, a, b, c); errno != 0 {
		return errno
	}
	return nil
}

// lethalCalls is the calls that kill the process.
func lethalCalls() map[string]uintptr {
	calls := map[string]uintptr{}
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil
	}
	for _, name := range seccomp.Lethal(seccomp.Options{}) {
		if nr, ok := machine.SyscallNames[name]; ok {
			calls[name] = uintptr(nr)
		}
	}
	return calls
}

// rawCall makes a call with arguments that make no sense, so that it fails
// whoever asks, and says how.
func rawCall(nr uintptr) string {
	none := ^uintptr(0)
	_, _, errno := unix.Syscall6(nr, none, none, none, none, none, none)
	return "survived: " + errno.Error()
}
