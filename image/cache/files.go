package cache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a whole file or leaves the old one.
func WriteFile(path string, content []byte, mode fs.FileMode) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
	if _, err := tmp.Write(content); err != nil {
		return err
	}
	if err := errors.Join(tmp.Chmod(mode), tmp.Sync()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return tmp.Close()
}

// Save writes what r gives to a new file at path.
func Save(path string, r io.Reader, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Copy copies from to the new file to.
func Copy(from, to string, mode fs.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return Save(to, source, mode)
}

// LinkOrCopy gives from a second name, or copies it to another file system.
func LinkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	if err := Clone(from, to); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.Chmod(to, info.Mode().Perm())
}

// SyncTree flushes every plain file below dir, and the folders.
func SyncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !(entry.IsDir() || entry.Type().IsRegular()) {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}
