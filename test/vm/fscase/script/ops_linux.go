package script

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// op is a step of a script: how many arguments it takes and what it does.
type op struct {
	least, most int
	do          func(w *world, a []string) (string, error)
}

// act is a step without a value.
func act(least, most int, do func(w *world, a []string) error) op {
	return op{least, most, func(w *world, a []string) (string, error) { return "ok", do(w, a) }}
}

func ops() map[string]op {
	all := pathOps()
	maps.Copy(all, fileOps())
	maps.Copy(all, statOps())
	return all
}

// pathOps are the steps that name a file by its path.
func pathOps() map[string]op {
	return map[string]op{
		"umask":    act(1, 1, func(_ *world, a []string) error { unix.Umask(int(octal(a[0]))); return nil }),
		"chdir":    act(1, 1, func(_ *world, a []string) error { return unix.Chdir(a[0]) }),
		"put":      act(2, 2, func(_ *world, a []string) error { return os.WriteFile(a[0], []byte(a[1]), 0o644) }),
		"mkdir":    act(2, 2, func(_ *world, a []string) error { return unix.Mkdir(a[0], octal(a[1])) }),
		"rmdir":    act(1, 1, func(_ *world, a []string) error { return unix.Rmdir(a[0]) }),
		"unlink":   act(1, 1, func(_ *world, a []string) error { return unix.Unlink(a[0]) }),
		"link":     act(2, 2, func(_ *world, a []string) error { return unix.Link(a[0], a[1]) }),
		"symlink":  act(2, 2, func(_ *world, a []string) error { return unix.Symlink(a[0], a[1]) }),
		"rename":   act(2, 2, func(_ *world, a []string) error { return unix.Rename(a[0], a[1]) }),
		"truncate": act(2, 2, func(_ *world, a []string) error { return unix.Truncate(a[0], number(a[1])) }),
		"chmod":    act(2, 2, func(_ *world, a []string) error { return unix.Chmod(a[0], octal(a[1])) }),
		"chown": act(3, 3, func(_ *world, a []string) error {
			return unix.Chown(a[0], owner(a[1], os.Getuid()), owner(a[2], os.Getgid()))
		}),
		"lchown": act(3, 3, func(_ *world, a []string) error {
			return unix.Lchown(a[0], owner(a[1], os.Getuid()), owner(a[2], os.Getgid()))
		}),
		"mkfifo":   act(2, 2, func(_ *world, a []string) error { return unix.Mkfifo(a[0], octal(a[1])) }),
		"mknod":    act(2, 2, func(_ *world, a []string) error { return unix.Mknod(a[0], unix.S_IFREG|octal(a[1]), 0) }),
		"listen":   act(1, 1, listen),
		"connect":  act(1, 1, connect),
		"setxattr": act(3, 3, func(_ *world, a []string) error { return unix.Setxattr(a[0], a[1], []byte(a[2]), 0) }),
		"linkfollow": act(2, 2, func(_ *world, a []string) error {
			return unix.Linkat(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.AT_SYMLINK_FOLLOW)
		}),
		"rename2": act(3, 3, func(_ *world, a []string) error {
			return unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], uint(flags(a[2])))
		}),
		"lchmod": act(2, 2, func(_ *world, a []string) error {
			return unix.Fchmodat(unix.AT_FDCWD, a[0], octal(a[1]), unix.AT_SYMLINK_NOFOLLOW)
		}),
		"device": act(3, 3, func(_ *world, a []string) error {
			kind := map[string]uint32{"c": unix.S_IFCHR, "b": unix.S_IFBLK}[a[0]]
			return unix.Mknod("device", kind|0o600, int(unix.Mkdev(uint32(number(a[1])), uint32(number(a[2])))))
		}),
		"utimes": act(2, 2, func(_ *world, a []string) error {
			return unix.UtimesNanoAt(unix.AT_FDCWD, a[0], times(a[1]), 0)
		}),
		"lutimes": act(2, 2, func(_ *world, a []string) error {
			return unix.UtimesNanoAt(unix.AT_FDCWD, a[0], times(a[1]), unix.AT_SYMLINK_NOFOLLOW)
		}),
	}
}

// fileOps are the steps on open files.
func fileOps() map[string]op {
	return map[string]op{
		"open":      act(2, 3, openStep),
		"fd":        act(1, 1, func(w *world, a []string) error { w.fd = w.fds[number(a[0])]; return nil }),
		"write":     act(1, 1, func(w *world, a []string) error { _, err := unix.Write(w.fd, []byte(a[0])); return err }),
		"pwrite":    act(2, 2, func(w *world, a []string) error { _, err := unix.Pwrite(w.fd, []byte(a[1]), number(a[0])); return err }),
		"ftruncate": act(1, 1, func(w *world, a []string) error { return unix.Ftruncate(w.fd, number(a[0])) }),
		"fchmod":    act(1, 1, func(w *world, a []string) error { return unix.Fchmod(w.fd, octal(a[0])) }),
		"fsync":     act(0, 0, func(w *world, _ []string) error { return unix.Fsync(w.fd) }),
		"fdatasync": act(0, 0, func(w *world, _ []string) error { return unix.Fdatasync(w.fd) }),
		"fallocate": act(3, 3, func(w *world, a []string) error {
			return unix.Fallocate(w.fd, uint32(flags(a[0])), number(a[1]), number(a[2]))
		}),
		"close": act(0, 0, func(w *world, _ []string) error {
			w.fds = slices.DeleteFunc(w.fds, func(fd int) bool { return fd == w.fd })
			return unix.Close(w.fd)
		}),
		"futimes": act(1, 1, func(w *world, a []string) error {
			return unix.UtimesNanoAt(unix.AT_FDCWD, self(w.fd), times(a[0]), 0)
		}),
		"linkfd": act(1, 1, func(w *world, a []string) error {
			return unix.Linkat(unix.AT_FDCWD, self(w.fd), unix.AT_FDCWD, a[0], unix.AT_SYMLINK_FOLLOW)
		}),
		"copyrange": act(2, 2, func(w *world, a []string) error {
			n, err := unix.CopyFileRange(w.fds[number(a[0])], nil, w.fd, nil, int(number(a[1])), 0)
			if err == nil && n != int(number(a[1])) {
				return fmt.Errorf("%d bytes", n)
			}
			return err
		}),
		"read": {1, 1, func(w *world, a []string) (string, error) {
			return text(number(a[0]), func(b []byte) (int, error) { return unix.Read(w.fd, b) })
		}},
		"pread": {2, 2, func(w *world, a []string) (string, error) {
			return text(number(a[1]), func(b []byte) (int, error) { return unix.Pread(w.fd, b, number(a[0])) })
		}},
		"seek": {2, 2, func(w *world, a []string) (string, error) {
			at, err := unix.Seek(w.fd, number(a[0]), int(flags(a[1])))
			return strconv.FormatInt(at, 10), err
		}},
		"names": {0, 0, func(w *world, _ []string) (string, error) { return namesOf(w.fd) }},
	}
}

func openStep(w *world, a []string) error {
	mode := uint32(0o644)
	if len(a) == 3 {
		mode = octal(a[2])
	}
	fd, err := unix.Open(a[0], int(flags(a[1]))|unix.O_CLOEXEC, mode)
	if err == nil {
		w.fd, w.fds = fd, append(w.fds, fd)
	}
	return err
}

// listen makes a socket with a name that stays open to the end of the script.
func listen(w *world, a []string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	w.fds = append(w.fds, fd)
	return errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: a[0]}), unix.Listen(fd, 1))
}

func connect(_ *world, a []string) error {
	c, err := net.Dial("unix", a[0])
	if err == nil {
		err = c.Close()
	}
	return err
}

func self(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

func text(n int64, read func([]byte) (int, error)) (string, error) {
	b := make([]byte, n)
	got, err := read(b)
	if err != nil {
		return "", err
	}
	return string(b[:got]), nil
}

// namesOf lists an open folder from where it stands.
func namesOf(fd int) (string, error) {
	var names []string
	b := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(fd, b)
		if err != nil {
			return "", err
		}
		if n == 0 {
			slices.Sort(names)
			return strings.Join(names, " "), nil
		}
		_, _, names = unix.ParseDirent(b[:n], -1, names)
	}
}

// number, octal, flags and times read arguments; a wrong one is a fault of cases.txt.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic("bug: cases.txt: " + err.Error())
	}
	return n
}

func octal(s string) uint32 {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		panic("bug: cases.txt: " + err.Error())
	}
	return uint32(n)
}

func owner(s string, me int) int {
	if s == "ME" {
		return me
	}
	return int(number(s))
}

// times returns one time, in seconds, as access and modification time.
func times(s string) []unix.Timespec {
	seconds, fraction, _ := strings.Cut(s, ".")
	nanos := number((fraction + "000000000")[:9])
	t := unix.Timespec{Sec: number(seconds), Nsec: nanos}
	return []unix.Timespec{t, t}
}

func flags(s string) (bits int64) {
	known := map[string]int64{
		"RDONLY": unix.O_RDONLY, "WRONLY": unix.O_WRONLY, "RDWR": unix.O_RDWR, "CREAT": unix.O_CREAT, "EXCL": unix.O_EXCL,
		"TRUNC": unix.O_TRUNC, "APPEND": unix.O_APPEND, "DIRECTORY": unix.O_DIRECTORY, "NOFOLLOW": unix.O_NOFOLLOW,
		"TMPFILE": unix.O_TMPFILE, "NONBLOCK": unix.O_NONBLOCK, "SYNC": unix.O_SYNC, "NOATIME": unix.O_NOATIME,
		"DIRECT": unix.O_DIRECT, "PATH": unix.O_PATH,
		"SET": unix.SEEK_SET, "END": unix.SEEK_END, "DATA": unix.SEEK_DATA, "HOLE": unix.SEEK_HOLE,
		"NOREPLACE": unix.RENAME_NOREPLACE, "EXCHANGE": unix.RENAME_EXCHANGE,
		"DEFAULT": 0, "KEEP": unix.FALLOC_FL_KEEP_SIZE, "PUNCH": unix.FALLOC_FL_PUNCH_HOLE,
	}
	for name := range strings.SplitSeq(s, "|") {
		bit, found := known[name]
		if !found {
			panic("bug: cases.txt: no flag " + name)
		}
		bits |= bit
	}
	return bits
}
