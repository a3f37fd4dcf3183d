package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"aibox/internal/fault"
)

// Read returns the text of the config at path, which must be a plain file or a
// link to one. Parse checks the text.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, readError(path, err)
	}
	if err := plainFile(path, info); err != nil {
		return nil, err
	}
	// Should the file become a FIFO now, opening it does not wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, readError(path, err)
	}
	if err := plainFile(path, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, readError(path, err)
	}
	return text, nil
}

func plainFile(path string, info fs.FileInfo) error {
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	default:
		kind = "no plain file"
	}
	return fault.New(fault.Config, fmt.Sprintf("move it away, the next run writes a new config: mv %s %s", fault.ShellQuote(path), fault.ShellQuote(path+".old")),
		"config %q is %s, not a file", path, kind)
}

func readError(path string, err error) error {
	switch cause := cause(err); {
	case errors.Is(err, fs.ErrNotExist) && isLink(path):
		return fault.New(fault.Config, "remove the link, the next run writes a new config: rm "+fault.ShellQuote(path),
			"config %q is a link that leads to nothing", path)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Config, "the first aibox run in the project writes it", "config %q: %w", path, cause)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Config, "chmod u+rw "+fault.ShellQuote(path), "config %q cannot be read: %w", path, cause)
	default:
		return fault.New(fault.Config, "", "config %q cannot be read: %w", path, cause)
	}
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// cause drops the operation and the path from an error of package os, since
// the messages here name the path themselves.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}

// WriteDefault writes the first config of a project to path, readable by the
// user only. It tells whether it did: an existing file, whatever it is, stays
// as it is. The file appears with its whole content or not at all.
func WriteDefault(path string) (written bool, err error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	err = place(path, DefaultText(), os.Link)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// Write replaces the config at path by text, at once. Where path is a link,
// what it leads to is replaced, so that a config kept elsewhere stays there.
func Write(path string, text []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return place(path, text, os.Rename)
}

// place writes a file beside path and lets move bring it there.
func place(path string, text []byte, move func(from, to string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return writeError(path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already after a rename
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return writeError(path, err)
	}
	if err := move(f.Name(), path); err != nil {
		return writeError(path, err)
	}
	return nil
}

func writeError(path string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "free some space: df -h " + fault.ShellQuote(filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		hint = "chmod u+rwx " + fault.ShellQuote(filepath.Dir(path))
	}
	return fault.New(fault.Machine, hint, "config %q cannot be written: %w", path, cause(err))
}
