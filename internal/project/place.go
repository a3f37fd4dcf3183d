package project

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"

	"aibox/internal/fault"
)

// Place is where aibox keeps everything: ~/.aibox.
type Place struct {
	Root string

	// homes are the folders that must never be shown to a VM: $HOME, and what
	// the system says the user's home is, since $HOME can be set to anything.
	homes []string
}

// NewPlace returns the place below the home folder, which must be an absolute
// path of a folder. Nothing is created.
func NewPlace(home string) (Place, error) {
	const hint = "set HOME to your home folder"
	if home == "" {
		return Place{}, fault.New(fault.Machine, hint, "the home folder is unknown: HOME is not set")
	}
	if !filepath.IsAbs(home) {
		return Place{}, fault.New(fault.Machine, hint, "HOME is %q, which is not an absolute path", home)
	}
	if info, err := os.Stat(home); err != nil {
		return Place{}, fault.New(fault.Machine, hint, "HOME is %q: %w", home, cause(err))
	} else if !info.IsDir() {
		return Place{}, fault.New(fault.Machine, hint, "HOME is %q, which is not a folder", home)
	}
	p := Place{Root: filepath.Join(home, rootName), homes: []string{filepath.Clean(home)}}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) && filepath.Clean(u.HomeDir) != p.homes[0] {
		p.homes = append(p.homes, filepath.Clean(u.HomeDir))
	}
	return p, nil
}

// Images is the folder for downloaded images.
func (p Place) Images() string { return filepath.Join(p.Root, imagesName) }

func (p Place) projects() string { return filepath.Join(p.Root, projectsName) }

// Kept names what is kept for the project at path, which must be the absolute
// path that Folder.Path holds.
func (p Place) Kept(path string) Kept {
	return Kept{Dir: filepath.Join(p.projects(), Name(path)), Project: path, place: p}
}

// Create makes the folders that are kept for a project and brings their rights,
// and those of the files in them, to the user's alone.
func (k Kept) Create() error {
	if err := k.place.create(); err != nil {
		return err
	}
	for _, dir := range []string{k.Dir, k.Home(), k.Tasks()} {
		if err := ownFolder(dir); err != nil {
			return err
		}
	}
	for _, name := range []string{configName, stateDiskName, consoleLogName, proxyLogName, pathName, runLockName, tasksLockName} {
		if err := tighten(filepath.Join(k.Dir, name)); err != nil {
			return err
		}
	}
	return k.writePath()
}

func (p Place) create() error {
	// A link is fine here and only here: users move ~/.aibox to a larger disk.
	if info, err := os.Stat(p.Root); err == nil && info.IsDir() {
		if err := ownInfo(p.Root, info); err != nil {
			return err
		}
	} else if err := ownFolder(p.Root); err != nil {
		return err
	}
	return ownFolder(p.projects())
}

// Check says why aibox could not keep its files here, by the error that keeping
// them would give. It changes nothing.
func (p Place) Check() error {
	info, err := os.Stat(p.Root)
	if err == nil && info.IsDir() {
		if err := ownerError(p.Root, info); err != nil {
			return err
		}
		// missing rights would be given
		if err := writable(p.Root); err != nil && !errors.Is(err, fs.ErrPermission) {
			return keepError("make the folder", p.projects(), err)
		}
		return nil
	}
	if _, err := os.Lstat(p.Root); err == nil {
		return ownFolder(p.Root)
	}
	if err := writable(filepath.Dir(p.Root)); err != nil {
		return keepError("make the folder", p.Root, err)
	}
	return nil
}

// ownFolder makes the folder if it is missing. One that exists must be a real
// folder of the user; too wide rights are narrowed.
func ownFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return keepError("make the folder", path, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return keepError("use the folder", path, err)
	}
	if !info.IsDir() {
		return fault.New(fault.Refused, "move it away: mv "+fault.ShellQuote(path)+" "+fault.ShellQuote(path+".old"),
			"%q must be a folder of its own, but is a %s", path, kindOf(info))
	}
	return ownInfo(path, info)
}

func ownerError(path string, info fs.FileInfo) error {
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fault.New(fault.Refused, "move it away, or give it to yourself with chown",
			"%q belongs to another user (uid %d), who could change what aibox keeps there", path, uid)
	}
	return nil
}

func ownInfo(path string, info fs.FileInfo) error {
	if err := ownerError(path, info); err != nil {
		return err
	}
	if info.Mode().Perm() != 0o700 {
		if err := os.Chmod(path, 0o700); err != nil {
			return keepError("narrow the rights of", path, err)
		}
	}
	return nil
}

// tighten takes other users' rights from a plain file. Editors that save
// by replacing a file give it their own rights.
func tighten(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(path, info.Mode().Perm()&0o700); err != nil {
		return keepError("narrow the rights of", path, err)
	}
	return nil
}

// writePath notes the project's path, and refuses when another project has the
// name already, as two that differ only in case do on some file systems.
func (k Kept) writePath() error {
	path := filepath.Join(k.Dir, pathName)
	switch old, err := k.readPath(); {
	case err == nil && old == k.Project:
		return nil
	case err == nil && old != "":
		return fault.New(fault.Refused, "aibox projects remove "+fault.ShellQuote(old),
			"what is kept in %q belongs to the project %q", k.Dir, old)
	}
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(k.Project), 0o600); err != nil {
		_ = os.Remove(temp)
		return keepError("write", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return keepError("write", path, err)
	}
	return nil
}

// keepError explains why something below ~/.aibox could not be written.
func keepError(doing, path string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "free some space: df -h " + fault.ShellQuote(filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		hint = "check whose it is: ls -ld " + fault.ShellQuote(filepath.Dir(path))
	case errors.Is(err, syscall.EROFS):
		hint = "aibox keeps its files in ~/.aibox, which must be writable"
	}
	return fault.New(fault.Machine, hint, "cannot %s %q: %w", doing, path, cause(err))
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

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "FIFO"
	case mode&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

// within tells whether the clean path p is tree or below it.
func within(p, tree string) bool {
	return p == tree || strings.HasPrefix(p, strings.TrimSuffix(tree, string(filepath.Separator))+string(filepath.Separator))
}
