package helper

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// beneath makes the kernel refuse every way out of a folder while it opens.
const beneath = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// open opens one name in the folder dir. The kernel asks for a second try when
// somebody renames things meanwhile, which a virtual machine may do for ever.
func open(dir *os.File, name string, flags int, mode fs.FileMode) (*os.File, error) {
	how := unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Mode: uint64(mode), Resolve: beneath}
	for range 100 {
		fd, err := unix.Openat2(int(dir.Fd()), name, &how)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return os.NewFile(uintptr(fd), name), nil
	}
	return nil, fmt.Errorf("open %s: the folder is renamed all the time", name)
}

// parent opens the folder that holds the last of names, one name at a time: what
// is open stays what it was, whatever its name leads to by now.
func parent(folder *os.File, names []string, create bool) (*os.File, string, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY
	dir, err := open(folder, ".", flags, 0)
	if err != nil {
		return nil, "", err
	}
	for _, name := range names[:len(names)-1] {
		next, err := open(dir, name, flags, 0)
		if create && errors.Is(err, fs.ErrNotExist) {
			if err := unix.Mkdirat(int(dir.Fd()), name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
				dir.Close()
				return nil, "", &fs.PathError{Op: "mkdir", Path: name, Err: err}
			}
			next, err = open(dir, name, flags, 0)
		}
		dir.Close()
		if err != nil {
			return nil, "", err
		}
		dir = next
	}
	return dir, names[len(names)-1], nil
}

func put(folder *os.File, f File) error {
	names, err := split(f.Path)
	if err != nil {
		return err
	}
	dir, name, err := parent(folder, names, true)
	if err != nil {
		return err
	}
	defer dir.Close()
	temp := ".aibox-" + rand.Text()
	if err := write(dir, temp, f); err != nil {
		_ = unix.Unlinkat(int(dir.Fd()), temp, 0)
		return err
	}
	if err := unix.Renameat(int(dir.Fd()), temp, int(dir.Fd()), name); err != nil {
		_ = unix.Unlinkat(int(dir.Fd()), temp, 0)
		return &fs.PathError{Op: "replace", Path: f.Path, Err: err}
	}
	return nil
}

// write makes the file, which must not exist, with exactly the mode asked for.
func write(dir *os.File, name string, f File) error {
	file, err := open(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(f.Data); err != nil {
		return err
	}
	if err := unix.Fchmod(int(file.Fd()), uint32(f.Mode.Perm())); err != nil {
		return &fs.PathError{Op: "chmod", Path: name, Err: err}
	}
	return file.Sync()
}

func read(folder *os.File, w wanted) ([]byte, error) {
	names, err := split(w.Path)
	if err != nil {
		return nil, err
	}
	dir, name, err := parent(folder, names, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// To open a device can do something by itself, so look first; then look at
	// what was opened, for it may be another file.
	var stat unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: w.Path, Err: err}
	}
	if err := plainFile(w, &stat); err != nil {
		return nil, err
	}
	file, err := open(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: w.Path, Err: err}
	}
	if err := plainFile(w, &stat); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(file, int64(w.Max)+1))
	if err == nil && len(b) > w.Max {
		err = fmt.Errorf("%s is over the limit of %d bytes", w.Path, w.Max)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

func plainFile(w wanted, stat *unix.Stat_t) error {
	switch {
	case stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%s is not a plain file", w.Path)
	case stat.Nlink != 1:
		return fmt.Errorf("%s has %d names", w.Path, stat.Nlink)
	case stat.Size > int64(w.Max):
		return fmt.Errorf("%s has %d bytes, over the limit of %d", w.Path, stat.Size, w.Max)
	}
	return nil
}
