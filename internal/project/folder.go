package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"aibox/internal/fault"
)

// Folder is a folder of the user that passed the checks. Later steps use Dir
// and not Path: Path can come to mean another folder, Dir cannot.
type Folder struct {
	Path string // absolute and without links, when it was checked
	Dir  *os.File
}

// OpenProject opens the folder that the VM will see at /project. It refuses,
// with an error of kind fault.Refused, the home folder, what holds it or
// ~/.aibox, what lies in ~/.aibox, and what is not the user's own writable
// folder. Folders are compared by what they are, so that links, bind
// mounts, ".." and other spellings of a path change nothing.
func (p Place) OpenProject(path string) (Folder, error) {
	f, info, err := p.open(path, "run aibox in the folder of one project")
	if err != nil {
		return Folder{}, err
	}
	if err := usable(f, info); err != nil {
		f.Dir.Close()
		return Folder{}, err
	}
	return f, nil
}

// OpenMount opens a folder that the VM will see read-only. The checks are those
// of OpenProject but that it may be another user's and need not be writable.
func (p Place) OpenMount(path string) (Folder, error) {
	f, _, err := p.open(path, `mount a folder that holds less, or remove the line under "mounts"`)
	return f, err
}

func (p Place) open(path, hint string) (Folder, fs.FileInfo, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Folder{}, nil, fault.New(fault.Refused, "change into the project's folder again: cd /path/to/project", "the current folder is gone: %w", err)
	}
	dir, err := os.OpenFile(abs, openFolder, 0)
	if err != nil {
		return Folder{}, nil, folderError(abs, err)
	}
	f, info, err := p.check(abs, dir, hint)
	if err != nil {
		dir.Close()
		return Folder{}, nil, err
	}
	return f, info, nil
}

// check judges the folder that is open, not the path: the path is only used to
// find the folders above, and only if it leads to the open folder.
func (p Place) check(abs string, dir *os.File, hint string) (Folder, fs.FileInfo, error) {
	info, err := dir.Stat()
	if err != nil {
		return Folder{}, nil, folderError(abs, err)
	}
	if !info.IsDir() {
		return Folder{}, nil, fault.New(fault.Refused, hint, "%q is not a folder", abs)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return Folder{}, nil, folderError(abs, err)
	}
	if now, err := os.Stat(resolved); err != nil || !os.SameFile(now, info) {
		return Folder{}, nil, fault.New(fault.Refused, "try again", "the folder %q was replaced while it was opened", abs)
	}
	if reason := p.forbidden(resolved, info); reason != "" {
		return Folder{}, nil, fault.New(fault.Refused, hint, "%q %s", resolved, reason)
	}
	return Folder{Path: resolved, Dir: dir}, info, nil
}

// usable refuses a project folder in which work cannot go on as the user.
func usable(f Folder, info fs.FileInfo) error {
	quoted := fault.ShellQuote(f.Path)
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fault.New(fault.Refused, "clone or copy the project into a folder of your own",
			"%q belongs to another user (uid %d)", f.Path, uid)
	}
	if err := writable(f.Path); err != nil {
		return fault.New(fault.Refused, "chmod u+rwx "+quoted, "%q is not writable for you: %w", f.Path, err)
	}
	return nil
}

func folderError(path string, err error) error {
	switch cause := cause(err); {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Refused, "check the path", "the folder %q does not exist", path)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Refused, "chmod u+rx "+fault.ShellQuote(path), "the folder %q cannot be opened: %w", path, cause)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fault.New(fault.Refused, "move it to a shorter path", "the folder's path, or a name in it, is too long: it has %d bytes", len(path))
	case isNoFolder(err):
		return fault.New(fault.Refused, "name a folder", "%q is not a folder", path)
	default:
		return fault.New(fault.Refused, "", "the folder %q cannot be opened: %w", path, cause)
	}
}
