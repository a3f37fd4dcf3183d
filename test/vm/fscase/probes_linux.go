package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"aibox/test/vm/fscase/script"
)

// probe is a case that takes more than a few steps. It works in a folder of its
// own, which is the current one, and answers "ok" or what is wrong.
type probe struct {
	name string
	do   func() (string, error)
}

func probes() []probe {
	return slices.Concat([]probe{
		{"names of every byte", everyByte},
		{"folders 220 deep", deepPath},
		{"5 GiB file with a hole", sparse},
		{"1 MiB in one call", oneCall},
		{"600 open files", manyOpen},
		{"run a program", runProgram},
		{"write to a running program", writeRunning},
		{"inotify of own changes", inotify},
		{"as rsync writes", asRsync},
	}, lockProbes(), mapProbes(), raceProbes())
}

// runProbes leaves each probe's files below dir.
func runProbes(dir string) error {
	for i, p := range probes() {
		place := filepath.Join(dir, fmt.Sprintf("probe%02d %s", i, p.name))
		if err := os.Mkdir(place, 0o755); err != nil {
			return err
		}
		if err := os.Chdir(place); err != nil {
			return err
		}
		if err := report(p.name, "ok", p.do); err != nil {
			return err
		}
	}
	return os.Chdir("/")
}

// verdict is "ok" unless got differs from want.
func verdict(what string, got, want any) error {
	if got != want {
		return fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	return nil
}

// everyByte makes a file for each byte that a name may hold. The host looks for them too.
func everyByte() (string, error) {
	want := map[string]bool{}
	for b := 1; b < 256; b++ {
		if b == '/' {
			continue
		}
		name := "x" + string([]byte{byte(b)})
		want[name] = true
		if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
			return "", fmt.Errorf("%q: %w", name, err)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		text, err := os.ReadFile(e.Name())
		if !want[e.Name()] || err != nil || string(text) != e.Name() {
			return "", fmt.Errorf("%q holds %q, %v", e.Name(), text, err)
		}
		delete(want, e.Name())
	}
	return "ok", verdict("files not listed", len(want), 0)
}

// deepPath goes down step by step: the path has 4620 bytes, more than one call takes.
func deepPath() (string, error) {
	const depth = 220
	name := strings.Repeat("d", 20)
	top, err := os.Open(".")
	if err != nil {
		return "", err
	}
	defer top.Close()
	for i := range depth {
		if err := errors.Join(os.Mkdir(name, 0o755), os.Chdir(name)); err != nil {
			return "", fmt.Errorf("folder %d: %w", i, err)
		}
	}
	if err := os.WriteFile("file", []byte("deep"), 0o644); err != nil {
		return "", err
	}
	text, err := os.ReadFile("file")
	if err = errors.Join(err, os.Rename("file", "moved"), os.Remove("moved"), top.Chdir()); err != nil {
		return "", err
	}
	return "ok", errors.Join(verdict("file", string(text), "deep"), os.RemoveAll(name))
}

// sparseSize is the size of a file that uses almost no room. The host checks it too.
const sparseSize = 5 << 30

func sparse() (string, error) {
	f, err := os.Create("sparse")
	if err != nil {
		return "", err
	}
	defer f.Close()
	end := []byte("the far end")
	if _, err := f.WriteAt(end, sparseSize-int64(len(end))); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	b := make([]byte, 64<<10)
	for _, at := range []int64{0, 1<<31 - 100, 1<<32 - 100, sparseSize - int64(len(b))} {
		if _, err := f.ReadAt(b, at); err != nil {
			return "", fmt.Errorf("read at %d: %w", at, err)
		}
		tail := strings.TrimLeft(string(b), "\x00")
		if want := at + int64(len(b)); (want == sparseSize) != (tail == string(end)) || want != sparseSize && tail != "" {
			return "", fmt.Errorf("at %d: %q", at, tail)
		}
	}
	hollow, err := script.Field("sparse", "hollow")
	size, _ := script.Field("sparse", "size")
	return "ok", errors.Join(err, verdict("hollow", hollow, "true"), verdict("size", size, fmt.Sprint(int64(sparseSize))))
}

func oneCall() (string, error) {
	want := pattern(1, 1<<20)
	f, err := os.Create("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	if n, err := unix.Write(int(f.Fd()), want); err != nil || n != len(want) {
		return "", fmt.Errorf("wrote %d bytes: %w", n, err)
	}
	got := make([]byte, len(want))
	n, err := unix.Pread(int(f.Fd()), got, 0)
	return "ok", errors.Join(err, verdict("bytes", n, len(want)), verdict("equal", bytes.Equal(got, want), true))
}

func manyOpen() (string, error) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for i := range 600 {
		f, err := os.Create(fmt.Sprint("file", i%50, ".", i%20))
		if err != nil {
			return "", fmt.Errorf("file %d: %w", i, err)
		}
		files = append(files, f)
		if _, err := f.WriteString("x"); err != nil {
			return "", err
		}
	}
	return "ok", nil
}
