package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"aibox/internal/project/treesize"
)

// Entry is one project for which aibox keeps something.
type Entry struct {
	Kept    Kept
	Size    int64     // bytes of the disk that are taken
	Partial bool      // Size leaves out what could not be read, lies too deep, or is too much to look at
	LastRun time.Time // zero for never
	Running bool
	PID     int  // of the run, 0 if not known
	Gone    bool // there is no folder at the project's path any more
}

// List returns the projects, ordered by path. It ends early with ctx's error.
func (p Place) List(ctx context.Context) ([]Entry, error) {
	all, err := p.All()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, k := range all {
		e, err := k.entry(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (k Kept) entry(ctx context.Context) (Entry, error) {
	e := Entry{Kept: k}
	e.PID, e.Running = k.Running()
	e.LastRun = k.lastRun()
	if _, err := os.Stat(k.Project); errors.Is(err, fs.ErrNotExist) {
		e.Gone = true
	}
	var err error
	e.Size, e.Partial, err = treesize.Of(ctx, k.Dir, treesize.MaxLook)
	return e, err
}

// lastRun is when a run last took its lock, zero for never.
func (k Kept) lastRun() time.Time {
	info, err := os.Lstat(filepath.Join(k.Dir, runLockName))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// putLastRun undoes what taking the run's lock for something else did to it. The
// caller still holds it.
func (k Kept) putLastRun(at time.Time) {
	path := filepath.Join(k.Dir, runLockName)
	if at.IsZero() {
		_ = os.Remove(path)
		return
	}
	_ = os.Chtimes(path, at, at) // only what is listed depends on it
}

// Find returns what is kept for the project at path, which may be a folder that
// was moved or deleted. It is false if nothing is kept.
func (p Place) Find(path string) (Kept, bool) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Kept{}, false
	}
	ways := []string{abs}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		ways = append([]string{resolved}, abs)
	} else if parent, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		ways = append(ways, filepath.Join(parent, filepath.Base(abs)))
	}
	for _, way := range ways {
		if k := p.Kept(way); isFolder(k.Dir) {
			return k, true
		}
	}
	// The path of the kept folder itself, as "projects list" prints it where
	// the project's path is lost.
	if filepath.Dir(abs) == p.projects() && isFolder(abs) {
		return Kept{Dir: abs, Project: abs, place: p}, true
	}
	return Kept{}, false
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
