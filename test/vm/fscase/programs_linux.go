package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// copySelf puts this program at path.
func copySelf(path string) error {
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o755)
}

func runProgram() (string, error) {
	if err := copySelf("program"); err != nil {
		return "", err
	}
	if err := os.WriteFile("script", []byte("#!/bin/sh\nexec ./program pread 0 <text\n"), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile("text", []byte("it runs"), 0o644); err != nil {
		return "", err
	}
	out, err := exec.Command("./script").CombinedOutput()
	return "ok", errors.Join(err, verdict("output", string(out), "it runs"))
}

func writeRunning() (string, error) {
	if err := copySelf("program"); err != nil {
		return "", err
	}
	c, err := startHolder("./program", "nothing", ".")
	if err != nil {
		return "", err
	}
	defer c.end()
	_, err = os.OpenFile("program", os.O_WRONLY, 0)
	if !errors.Is(err, unix.ETXTBSY) {
		return "", fmt.Errorf("open it for writing: %v, want ETXTBSY", err)
	}
	// what installers do instead
	return "ok", errors.Join(copySelf("new"), os.Rename("new", "program"))
}

// inotify wants an event for what a program in the VM does.
func inotify() (string, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, ".", unix.IN_CREATE|unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_DELETE); err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile("a", nil, 0o644), os.Rename("a", "b"), os.Remove("b")); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	n, err := unix.Read(fd, b)
	if err != nil {
		return "", err
	}
	const header = unix.SizeofInotifyEvent
	return "ok", verdict("bytes of events", n, 4*(header+16))
}

// asRsync copies a tree as rsync does: a hidden file, its mode and times, then
// a rename over the old. What a second run would find changed is a fault.
func asRsync() (string, error) {
	for i := range 30 {
		path := filepath.Join("source", fmt.Sprint("dir", i%5), fmt.Sprint("file", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, pattern(uint64(i), i*700), 0o644)); err != nil {
			return "", err
		}
		when := time.Unix(1e9+int64(i), 123456789+int64(i))
		if err := errors.Join(os.Chmod(path, os.FileMode(0o600+i)), os.Chtimes(path, when, when)); err != nil {
			return "", err
		}
	}
	first, err := mirror("source", "copy")
	if err != nil {
		return "", err
	}
	second, err := mirror("source", "copy")
	if err != nil {
		return "", err
	}
	left, err := filepath.Glob("copy/*/.*")
	return "ok", errors.Join(err, verdict("first run", first, 30), verdict("second run", second, 0), verdict("hidden files left", len(left), 0))
}

// mirror returns how many files differed by size, mode or, in whole seconds as
// rsync compares them, modification time.
func mirror(from, to string) (sent int, err error) {
	err = filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		if info.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		old, err := os.Lstat(target)
		if err == nil && old.Size() == info.Size() && old.ModTime().Unix() == info.ModTime().Unix() && old.Mode() == info.Mode() {
			return nil
		}
		sent++
		return send(path, target, info)
	})
	return sent, err
}

func send(path, target string, info os.FileInfo) error {
	want, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	hidden := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".Xa92kT")
	if err := os.WriteFile(hidden, want, 0o600); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(hidden, info.Mode()), os.Chtimes(hidden, info.ModTime(), info.ModTime()), os.Rename(hidden, target)); err != nil {
		return err
	}
	got, err := os.ReadFile(target)
	return errors.Join(err, verdict(target, bytes.Equal(got, want), true))
}
