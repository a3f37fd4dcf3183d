package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/project/away"
)

// loginFiles hold Claude Code's login, below the VM's home.
func loginFiles() []string { return []string{".claude/.credentials.json"} }

// maxLogin bounds a login file in bytes.
const maxLogin = 1 << 20

// Remove drops everything that is kept for the project. The project's own
// folder is not touched. It refuses while a run or a task lives.
func (k Kept) Remove(ctx context.Context) error {
	release, err := k.lockToClear()
	if err != nil {
		return err
	}
	defer release()
	if err := k.noMounts(k.Dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(k.place.projects())
	if err != nil {
		return keepError("open", k.place.projects(), err)
	}
	defer root.Close()
	if err := away.RemoveLeftovers(ctx, root); err != nil {
		return err
	}
	aside, err := away.Move(root, filepath.Base(k.Dir))
	if err != nil {
		return keepError("remove", k.Dir, err)
	}
	return away.Remove(ctx, root, aside)
}

// Reset clears the VM's home and deletes the state disk. It keeps the config,
// the logs, the tasks and, unless logout, Claude Code's login. It refuses while a
// run or a task lives.
func (k Kept) Reset(ctx context.Context, logout bool) error {
	release, err := k.lockToClear()
	if err != nil {
		return err
	}
	defer release()
	if err := k.noMounts(k.Home()); err != nil {
		return err
	}
	root, err := os.OpenRoot(k.Dir)
	if err != nil {
		return keepError("open", k.Dir, err)
	}
	defer root.Close()
	if err := root.Remove(stateDiskName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keepError("remove", k.StateDisk(), err)
	}
	if err := k.resetHome(root, logout); err != nil {
		return err
	}
	return away.RemoveLeftovers(ctx, root)
}

// lockToClear takes all locks. Its release leaves the last run as it was.
func (k Kept) lockToClear() (release func(), err error) {
	if err := ownFolder(k.Dir); err != nil {
		return nil, err
	}
	last := k.lastRun()
	lock, err := k.LockAll()
	if err != nil {
		return nil, err
	}
	return func() {
		k.putLastRun(last)
		lock.Release()
	}, nil
}

// resetHome prepares the new home beside the old one and then swaps them, so
// that a crash loses no login: at any time one of the two is complete.
func (k Kept) resetHome(root *os.Root, logout bool) error {
	fresh, err := away.FreeName(root)
	if err != nil {
		return keepError("clear", k.Home(), err)
	}
	if err := root.Mkdir(fresh, 0o700); err != nil {
		return keepError("clear", k.Home(), err)
	}
	if !logout {
		for _, name := range loginFiles() {
			if err := carry(root, homeName, fresh, name); err != nil {
				return keepError("keep the login in", k.Home(), err)
			}
		}
	}
	if _, err := away.Move(root, homeName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keepError("clear", k.Home(), err)
	}
	if err := root.Rename(fresh, homeName); err != nil {
		return keepError("clear", k.Home(), err)
	}
	return nil
}

// carry links a plain file of the old home into the new one. Each part of its
// path must be what it seems: a link that the VM put there leads nowhere.
func carry(root *os.Root, from, to, name string) error {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := strings.Join(append([]string{from}, parts[:i+1]...), "/")
		info, err := root.Lstat(at)
		last := i == len(parts)-1
		if err != nil || !last && !info.IsDir() || last && (!info.Mode().IsRegular() || info.Size() > maxLogin) {
			return nil // there is no login
		}
	}
	for i := range parts[:len(parts)-1] {
		if err := root.Mkdir(strings.Join(append([]string{to}, parts[:i+1]...), "/"), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return root.Link(from+"/"+name, to+"/"+name)
}

// noMounts refuses to clear a folder in which something is mounted: the rule
// that removing stays in the tree would not hold there.
func (k Kept) noMounts(dir string) error {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	for _, m := range readMounts() {
		if within(m.point, dir) {
			return fault.New(fault.Refused, "umount "+fault.ShellQuote(m.point), "something is mounted at %q", m.point)
		}
	}
	return nil
}
