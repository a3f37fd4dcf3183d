package work

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Share works on the file system of dir, which it leaves full: it asks git for
// the status of the repository, which it unpacks first if it is not there, unpacks an
// archive, which it reads before the clock runs, creates small files, and
// writes and reads one long file.
func Share(dir, archives string) (Results, error) {
	tree := filepath.Join(dir, Tree)
	if _, err := os.Stat(tree); err != nil {
		if err := untar(tree, filepath.Join(archives, TreeArchive))(); err != nil {
			return nil, err
		}
	}
	return measure(step{Status, func() error { return status(tree) }},
		step{Untar, untar(filepath.Join(dir, "untar"), filepath.Join(archives, FilesArchive))},
		step{Create, func() error { return create(filepath.Join(dir, "small")) }},
		step{Write, func() error { return write(filepath.Join(dir, long)) }},
		step{Read, func() error { return read(filepath.Join(dir, long)) }})
}

// Brief is the part of Share that does not take long.
func Brief(dir, archives string) (Results, error) {
	return measure(step{Untar, untar(filepath.Join(dir, "untar"), filepath.Join(archives, FilesArchive))},
		step{Write, func() error { return write(filepath.Join(dir, long)) }})
}

const long = "long"

type step struct {
	name string
	do   func() error
}

// measure times steps; those of streams give MB/s.
func measure(steps ...step) (Results, error) {
	r := Results{}
	for _, s := range steps {
		took, err := timed(s.do)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if s.name == Write || s.name == Read {
			took = StreamMB / took
		}
		r[s.name] = took
	}
	return r, nil
}

// untar reads the archive and returns what unpacks it.
func untar(to, archive string) func() error {
	text, err := os.ReadFile(archive)
	return func() error {
		if err != nil {
			return err
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		cmd := exec.Command("tar", "--no-same-owner", "-xf", "-", "-C", to)
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("tar: %w: %.300s", err, out)
		}
		return nil
	}
}

// status wants git to find nothing changed, as a git that had to read all files
// again would have.
func status(tree string) error {
	cmd := exec.Command("git", "-c", "safe.directory=*", "-C", tree, "status", "--porcelain")
	cmd.Env = append(os.Environ(), "HOME=/nonexistent")
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		return fmt.Errorf("git status: %w: %.300s", err, out)
	}
	return nil
}

func create(dir string) error {
	content := bytes.Repeat([]byte("x"), 1000)
	for i := range CreatedFiles {
		folder := filepath.Join(dir, strconv.Itoa(i%folders))
		if i < folders {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(i)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	chunk := bytes.Repeat([]byte("0123456789abcdef"), megabyte/16)
	for range StreamMB {
		if _, err := f.Write(chunk); err != nil {
			return err
		}
	}
	return f.Sync()
}

// read does so from where the file is, not from this kernel's memory.
func read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("forget %s: %w", path, err)
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, megabyte))
	if err == nil && n != StreamMB*megabyte {
		err = fmt.Errorf("%s has %d bytes", path, n)
	}
	return err
}
