package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func fileTries() []try {
	return []try{
		{"read the user's file by its path", func(t Target) error { return readSecret(t, t.Secret) }},
		{"read the user's file by /proc/1/root", func(t Target) error { return readSecret(t, "/proc/1/root"+t.Secret, "/proc/self/root"+t.Secret) }},
		{"read the user's file by the old root", func(t Target) error {
			if t.Bare {
				return readSecret(t, "/proc/self/root/.."+t.Secret)
			}
			return readSecret(t, "/oldroot"+t.Secret, "/newroot"+t.Secret, "/proc/self/root/.."+t.Secret, "/.."+t.Secret)
		}},
		{"read the user's file by the working folder", func(t Target) error {
			return readSecret(t, strings.Repeat("../", 40)+t.Secret[1:], "/proc/self/cwd/"+strings.Repeat("../", 40)+t.Secret[1:])
		}},
		{"read the user's file by an inherited file", readByFiles},
		{"read the user's file by another process", readByProcesses},
		{"list the user's folder", func(t Target) error { return list(filepath.Dir(t.Secret)) }},
		{"read the machine's users", func(Target) error { _, err := os.ReadFile("/etc/passwd"); return err }},
		{"write into the user's folder", func(t Target) error { return plant(t.Scratch) }},
		{"write anywhere", writeAnywhere},
		{"write into its own program", writeProgram},
		{"open a read-only file again for writing", func(t Target) error { return reopen(t, false) }},
		{"make a read-only file writable and open it again", func(t Target) error { return reopen(t, true) }},
		{"see the user's environment", seeEnvironment},
	}
}

func readSecret(t Target, paths ...string) error {
	var last error
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err == nil && strings.Contains(string(b), t.Marker) {
			return nil
		}
		last = err
	}
	if last == nil {
		last = errors.New("another file is there")
	}
	return last
}

func list(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 0 {
		return errors.New("empty")
	}
	return err
}

// inherited lists the open files, without those that Go's runtime made.
func inherited() (fds []int) {
	for fd := range 1024 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

// readByFiles climbs from each open folder, and goes by each open file's path.
func readByFiles(t Target) error {
	fds := inherited()
	if t.Bare { // aibox has such folders open
		dir, err := os.Open(filepath.Dir(t.Secret))
		if err != nil {
			return err
		}
		defer dir.Close()
		fds = append(fds, int(dir.Fd()))
	}
	for _, fd := range fds {
		for _, path := range []string{strings.Repeat("../", 40) + t.Secret[1:], filepath.Base(t.Secret), "." + t.Secret} {
			f, err := unix.Openat(fd, path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				continue
			}
			b := make([]byte, 4096)
			n, _ := unix.Read(f, b)
			unix.Close(f)
			if n > 0 && strings.Contains(string(b[:n]), t.Marker) {
				return nil
			}
		}
	}
	return fmt.Errorf("none of %d open files leads there", len(fds))
}

func readByProcesses(t Target) error {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		for _, by := range []string{"root", "cwd/" + strings.Repeat("../", 40)} {
			if readSecret(t, filepath.Join(dir, "root", t.Secret), dir+"/"+by+t.Secret) == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("none of %d processes leads there", len(dirs))
}

func plant(dir string) error {
	path := filepath.Join(dir, "planted")
	err := os.WriteFile(path, []byte("planted"), 0o600)
	if err == nil {
		os.Remove(path)
	}
	return err
}

func writeAnywhere(t Target) error {
	dirs := []string{"/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/run", "/etc", "/usr", "/usr/lib", "/usr/bin", "/lib", "/home", "/proc", "/sys", "/root", "/shares", "/oldroot", "."}
	if t.Bare {
		dirs = []string{t.Scratch}
	}
	var last error
	for _, dir := range dirs {
		if last = plant(dir); last == nil {
			return nil
		}
	}
	return last
}

// writeProgram opens the program of this process for writing, as it is seen here.
func writeProgram(t Target) error {
	if t.Bare {
		return errSafe
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := plant(filepath.Dir(self)); err == nil {
		return nil
	}
	return os.Chmod(self, 0o777)
}

// reopen opens the files that it was given for reading by their numbers' own
// paths for writing. The root disk is the user's file, on a file system that
// can be written; it has to be behind a mount that cannot.
func reopen(t Target, chmod bool) error {
	fds := inherited()
	if t.Bare {
		f, err := os.Open(filepath.Join(t.Scratch, "read-only"))
		if err != nil {
			return err
		}
		defer f.Close()
		fds = []int{int(f.Fd())}
	}
	fds = append(fds, shown(t)...)
	tried := 0
	for _, fd := range fds {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		var st unix.Stat_t
		if err != nil || flags&unix.O_ACCMODE != unix.O_RDONLY || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || seals(fd) {
			continue
		}
		tried++
		if chmod && unix.Fchmod(fd, 0o666) != nil && unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o666) != nil {
			continue
		}
		f, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err == nil {
			unix.Close(f)
			return nil
		}
	}
	return fmt.Errorf("none of %d files", tried)
}

// shown opens the regular files at the top of the sandbox.
func shown(t Target) (fds []int) {
	if t.Bare {
		return nil
	}
	for _, dir := range []string{"/", "/disks"} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if fd, err := unix.Open(filepath.Join(dir, e.Name()), unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				fds = append(fds, fd)
			}
		}
	}
	return fds
}

// seals tells whether the file is memory sealed against writing.
func seals(fd int) bool {
	s, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	return err == nil && s&unix.F_SEAL_WRITE != 0
}

func seeEnvironment(t Target) error {
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "LD_LIBRARY_PATH" && name != "PWD" {
			return nil
		}
	}
	return errors.New("the environment is empty")
}
