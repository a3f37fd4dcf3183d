package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	project  = "/shares/project"
	readOnly = "/shares/m0"
)

func itoa(n int) string { return strconv.Itoa(n) }

// shareTries are a taken-over file server's attacks on the folders it serves.
func shareTries() []try {
	return []try{
		{"write a file of a read-only share", func(Target) error { return write(filepath.Join(readOnly, "tool")) }},
		{"make a file in a read-only share", func(Target) error { return plant(readOnly) }},
		{"remove a file of a read-only share", func(Target) error { return os.Remove(filepath.Join(readOnly, "tool")) }},
		{"change the mode of a file of a read-only share", func(Target) error { return os.Chmod(filepath.Join(readOnly, "tool"), 0o777) }},
		{"hard-link a read-only share's file into the project and write it", func(Target) error {
			link := filepath.Join(project, "linked")
			if err := os.Link(filepath.Join(readOnly, "tool"), link); err != nil {
				return err
			}
			return write(link)
		}},
		{"write into a read-only share by an inherited file", writeByFiles},
		{"make a setuid file", func(Target) error { return setID(unix.Chmod) }},
		{"make a setgid file by open", func(Target) error {
			return setID(func(path string, mode uint32) error {
				_ = os.Remove(path)
				fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY, mode)
				if err == nil {
					unix.Close(fd)
				}
				return err
			})
		}},
		{"make a setuid file by mknod", func(Target) error {
			return setID(func(path string, mode uint32) error {
				_ = os.Remove(path)
				return unix.Mknod(path, unix.S_IFREG|mode, 0)
			})
		}},
		{"make a setuid file by fchmodat2", func(Target) error {
			return setID(func(path string, mode uint32) error {
				return unix.Fchmodat(unix.AT_FDCWD, path, mode, unix.AT_SYMLINK_NOFOLLOW)
			})
		}},
		{"give a file to another user", func(Target) error {
			path := filepath.Join(project, "mine")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Chown(path, 0, 0)
		}},
		{"give a file capabilities", func(Target) error {
			path := filepath.Join(project, "mine")
			caps := []byte{1, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}
			return unix.Setxattr(path, "security.capability", caps, 0)
		}},
		{"follow a link out of a share", func(t Target) error {
			link := filepath.Join(project, "out")
			if err := os.Symlink(t.Secret, link); err != nil {
				return err
			}
			defer os.Remove(link)
			return readSecret(t, link)
		}},
		{"climb out of a share", func(t Target) error {
			return readSecret(t, filepath.Join(project)+"/"+strings.Repeat("../", 40)+t.Secret[1:], "/shares/../.."+t.Secret)
		}},
		{"open a file by its handle", openHandles},
		{"swap a share for another folder", func(Target) error { return os.Rename(project, "/shares/other") }},
	}
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("owned")
		f.Close()
	}
	return err
}

// writeByFiles goes around the read-only mount by folders that were left open.
func writeByFiles(Target) error {
	fds := inherited()
	for _, fd := range fds {
		for _, name := range []string{"tool", "../tools/tool", "m0/tool", "shares/m0/tool"} {
			f, err := unix.Openat(fd, name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
			if err == nil {
				unix.Close(f)
				return nil
			}
		}
	}
	return fmt.Errorf("none of %d open files leads there", len(fds))
}

// setID makes a program of the user's that runs with the user's rights for all.
func setID(change func(string, uint32) error) error {
	path := filepath.Join(project, "suid")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		return err
	}
	defer os.Remove(path)
	for _, bits := range []uint32{unix.S_ISUID, unix.S_ISGID} {
		if err := change(path, 0o755|bits); err != nil {
			continue
		}
		if fi, err := os.Stat(path); err == nil && fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			return nil
		}
	}
	return errors.New("no bit was set")
}

// openHandles makes a handle of the project and opens what lies around it.
func openHandles(t Target) error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, project, 0)
	if err != nil {
		return err
	}
	dir, err := unix.Open(project, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
	if err == nil {
		unix.Close(fd)
	}
	return err
}
