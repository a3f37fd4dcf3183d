package away

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Limits of removing a tree that the VM filled.
const (
	// maxOpen is how many folders are open at once, one in the other. What
	// lies deeper is moved to the top first.
	maxOpen = 64
	// batch is how many names are read at once: a folder can hold millions.
	batch = 1024
)

// remover removes one tree below top.
type remover struct {
	top     *os.Root
	device  uint64
	pending []string // trees that were moved to the top
	moved   int
	prefix  string
}

// Remove removes the entry of top with everything below it. It works
// through folders it has opened and never follows a link, gives itself the rights
// that a read-only folder lacks, and does not enter another file system. It does
// not rest on path lengths or on the number of files that can be open.
func Remove(ctx context.Context, top *os.Root, name string) error {
	info, err := top.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %q: %w", name, cause(err))
	}
	r := &remover{top: top, device: device(info), pending: []string{name}, prefix: name}
	for len(r.pending) > 0 {
		next := r.pending[len(r.pending)-1]
		r.pending = r.pending[:len(r.pending)-1]
		if err := r.entry(ctx, top, next, next, 0); err != nil {
			return err
		}
	}
	return nil
}

// entry removes one entry of the folder parent. The path leads to it from top.
func (r *remover) entry(ctx context.Context, parent *os.Root, name, path string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := parent.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %q: %w", path, cause(err))
	}
	if info.IsDir() {
		if done, err := r.folder(ctx, parent, info, name, path, depth); done || err != nil {
			return err
		}
	}
	if err := parent.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %q: %w", path, cause(err))
	}
	return nil
}

// folder empties a folder. It is done when the folder was moved to the top
// instead, to be removed later.
func (r *remover) folder(ctx context.Context, parent *os.Root, info fs.FileInfo, name, path string, depth int) (done bool, err error) {
	if device(info) != r.device {
		return false, fmt.Errorf("remove %q: another file system is mounted there", path)
	}
	// Moving a folder changes its "..", which needs the right to write into it.
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := parent.Chmod(name, 0o700); err != nil {
			return false, fmt.Errorf("remove %q: %w", path, cause(err))
		}
	}
	if depth == maxOpen {
		return true, r.toTop(path)
	}
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return false, fmt.Errorf("remove %q: %w", path, cause(err))
	}
	defer dir.Close()
	for {
		names, err := someNames(dir)
		if err != nil {
			return false, fmt.Errorf("remove %q: %w", path, cause(err))
		}
		if len(names) == 0 {
			return false, nil
		}
		for _, name := range names {
			if err := r.entry(ctx, dir, name, filepath.Join(path, name), depth+1); err != nil {
				return false, err
			}
		}
	}
}

func (r *remover) toTop(path string) error {
	name := ""
	for free := false; !free; { // a removal that crashed may have left some
		r.moved++
		name = fmt.Sprintf("%s.%d", r.prefix, r.moved)
		_, err := r.top.Lstat(name)
		free = errors.Is(err, fs.ErrNotExist)
		if err != nil && !free {
			return fmt.Errorf("remove %q: %w", path, cause(err))
		}
	}
	if err := r.top.Rename(path, name); err != nil {
		return fmt.Errorf("remove %q: %w", path, cause(err))
	}
	r.pending = append(r.pending, name)
	return nil
}

// someNames opens the folder anew each time, since removing entries may
// confuse a reading that goes on.
func someNames(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(batch)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// cause drops operation and path, which the messages here name themselves.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}
