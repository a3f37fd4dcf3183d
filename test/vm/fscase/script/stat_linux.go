package script

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// statOps are the steps that tell something of a file.
func statOps() map[string]op {
	return map[string]op{
		"stat": {2, 2, func(_ *world, a []string) (string, error) {
			return field(a[1], func(st *unix.Stat_t) error { return unix.Stat(a[0], st) })
		}},
		"lstat": {2, 2, func(_ *world, a []string) (string, error) {
			return field(a[1], func(st *unix.Stat_t) error { return unix.Lstat(a[0], st) })
		}},
		"fstat": {1, 1, func(w *world, a []string) (string, error) {
			return field(a[0], func(st *unix.Stat_t) error { return unix.Fstat(w.fd, st) })
		}},
		"same": {2, 2, same},
		"mark": act(1, 1, mark),
		"changed": {1, 1, func(w *world, a []string) (string, error) {
			var st unix.Stat_t
			err := unix.Lstat(a[0], &st)
			return difference(w.marked, st), err
		}},
		"access": act(2, 2, func(_ *world, a []string) error {
			return unix.Access(a[0], map[string]uint32{"R": unix.R_OK, "W": unix.W_OK, "X": unix.X_OK, "F": unix.F_OK}[a[1]])
		}),
		"statfs":   {2, 2, statfs},
		"cat":      {1, 1, func(_ *world, a []string) (string, error) { b, err := os.ReadFile(a[0]); return string(b), err }},
		"ls":       {1, 1, ls},
		"types":    {1, 9, types},
		"readlink": {1, 2, readlink},
		"getxattr": {2, 2, func(_ *world, a []string) (string, error) {
			return text(256, func(b []byte) (int, error) { return unix.Getxattr(a[0], a[1], b) })
		}},
		"listxattr": {1, 1, func(_ *world, a []string) (string, error) {
			return text(256, func(b []byte) (int, error) { return unix.Listxattr(a[0], b) })
		}},
	}
}

// Field returns one field of the status of the file at path, not following a link:
// "size", "mode", "hollow" for a file that uses less room than its size, and more.
func Field(path, name string) (string, error) {
	return field(name, func(st *unix.Stat_t) error { return unix.Lstat(path, st) })
}

// field returns one field of a file's status in words.
func field(name string, read func(*unix.Stat_t) error) (string, error) {
	var st unix.Stat_t
	if err := read(&st); err != nil {
		return "", err
	}
	switch name {
	case "type":
		return kind(st.Mode), nil
	case "mode":
		return fmt.Sprintf("%05o", st.Mode&0o7777)[btoi(st.Mode&0o7000 == 0):], nil
	case "size":
		return strconv.FormatInt(st.Size, 10), nil
	case "nlink":
		return strconv.FormatUint(uint64(st.Nlink), 10), nil
	case "mtime":
		return clock(st.Mtim), nil
	case "atime":
		return clock(st.Atim), nil
	case "mine":
		return strconv.FormatBool(int(st.Uid) == os.Getuid() && int(st.Gid) == os.Getgid()), nil
	case "hollow": // less room on the disk than the size
		return strconv.FormatBool(st.Blocks*512 < st.Size/2), nil
	case "old":
		return strconv.FormatBool(time.Since(time.Unix(st.Mtim.Unix())) > time.Hour), nil
	}
	return "", errors.New("no field " + name)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func kind(mode uint32) string {
	names := map[uint32]string{
		unix.S_IFREG: "file", unix.S_IFDIR: "dir", unix.S_IFLNK: "link", unix.S_IFIFO: "fifo",
		unix.S_IFSOCK: "socket", unix.S_IFCHR: "device", unix.S_IFBLK: "device",
	}
	return names[mode&unix.S_IFMT]
}

func clock(t unix.Timespec) string {
	if t.Nsec == 0 {
		return strconv.FormatInt(t.Sec, 10)
	}
	return fmt.Sprintf("%d.%09d", t.Sec, t.Nsec)
}

func same(_ *world, a []string) (string, error) {
	var x, y unix.Stat_t
	err := errors.Join(unix.Stat(a[0], &x), unix.Stat(a[1], &y))
	return strconv.FormatBool(x.Dev == y.Dev && x.Ino == y.Ino), err
}

// mark remembers a file's status. It returns when the clock of the file's times
// has moved on, a tick of 1 to 10 ms, so that a later change gets another time.
func mark(w *world, a []string) error {
	if err := unix.Lstat(a[0], &w.marked); err != nil {
		return err
	}
	time.Sleep(15 * time.Millisecond)
	return nil
}

// difference names the fields that differ; a folder's size is its disk's affair.
func difference(old, now unix.Stat_t) string {
	var fields []string
	if old.Mtim != now.Mtim {
		fields = append(fields, "mtime")
	}
	if old.Ctim != now.Ctim {
		fields = append(fields, "ctime")
	}
	if old.Size != now.Size && kind(now.Mode) == "file" {
		fields = append(fields, "size")
	}
	if old.Ino != now.Ino {
		fields = append(fields, "inode")
	}
	return strings.Join(fields, " ")
}

func statfs(_ *world, a []string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(a[0], &st); err != nil {
		return "", err
	}
	if a[1] == "namelen" {
		return strconv.FormatInt(st.Namelen, 10), nil
	}
	return strconv.FormatBool(st.Bavail > 0 && st.Bavail <= st.Blocks), nil
}

func ls(_ *world, a []string) (string, error) {
	fd, err := unix.Open(a[0], unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return namesOf(fd)
}

// types returns the files' types as a listing of the folder has them.
func types(_ *world, a []string) (string, error) {
	entries, err := os.ReadDir(".")
	var list []string
	for _, e := range entries {
		if slices.Contains(a, e.Name()) {
			name := map[os.FileMode]string{0: "file", os.ModeDir: "dir", os.ModeSymlink: "link"}[e.Type()]
			list = append(list, e.Name()+":"+name)
		}
	}
	return strings.Join(list, " "), err
}

func readlink(_ *world, a []string) (string, error) {
	target, err := text(5000, func(b []byte) (int, error) { return unix.Readlink(a[0], b) })
	if len(a) == 2 && err == nil {
		return strconv.Itoa(len(target)), nil
	}
	return target, err
}
