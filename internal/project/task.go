package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"aibox/internal/fault"
	"aibox/internal/project/away"

	"github.com/gofrs/flock"
)

// Names in a task's folder that are not those of its results.
const (
	taskLockName  = "lock"
	taskShareName = "share"
	taskDiskName  = "disk"
)

// newTaskPrefix begins the name of a task's folder until it is locked.
const newTaskPrefix = ".new-"

// newTaskTime is longer than it takes to lock a new folder.
const newTaskTime = time.Minute

var taskID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}$`)

// Task names the folder of one task. It is only a name.
type Task struct {
	ID  string
	Dir string
}

// ConsoleLog is what the kernel and init of the task's VM printed.
func (t Task) ConsoleLog() string { return filepath.Join(t.Dir, consoleLogName) }

// ProxyLog is what the task's proxy connected and refused.
func (t Task) ProxyLog() string { return filepath.Join(t.Dir, proxyLogName) }

// Share is the folder that the task's VM sees read-only.
func (t Task) Share() string { return filepath.Join(t.Dir, taskShareName) }

// File is a file of results in the task's folder.
func (t Task) File(name string) string { return filepath.Join(t.Dir, name) }

// NewTask makes the folder of a task and locks it for as long as the lock is
// held. The folder has its name only once it is locked, so that nobody takes
// it for one that was left behind. The caller holds LockTask.
func (k Kept) NewTask(id string) (Task, *Lock, error) {
	t := Task{ID: id, Dir: filepath.Join(k.Tasks(), id)}
	if !taskID.MatchString(id) {
		return t, nil, fault.New(fault.Usage, "", "%q is no id of a task", id)
	}
	fresh := filepath.Join(k.Tasks(), newTaskPrefix+id)
	for _, dir := range []string{fresh, filepath.Join(fresh, taskShareName)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return t, nil, keepError("make the task's folder", dir, err)
		}
	}
	path := filepath.Join(fresh, taskLockName)
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|openPlain), flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err == nil && !ok {
		err = errors.New("it is locked")
	}
	if err == nil {
		err = os.Rename(fresh, t.Dir)
	}
	if err != nil {
		_ = f.Unlock()
		return t, nil, keepError("make the task's folder", fresh, err)
	}
	notePID(filepath.Join(t.Dir, taskLockName))
	return t, &Lock{[]*flock.Flock{f}}, nil
}

// ListTasks returns the project's tasks in the order of their ids.
func (k Kept) ListTasks() ([]Task, error) {
	entries, err := os.ReadDir(k.Tasks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, keepError("read", k.Tasks(), err)
	}
	var list []Task
	for _, e := range entries {
		if e.IsDir() && taskID.MatchString(e.Name()) {
			list = append(list, Task{ID: e.Name(), Dir: filepath.Join(k.Tasks(), e.Name())})
		}
	}
	return list, nil
}

// TaskByID returns the task whose id is or begins with id, if there is one.
func (k Kept) TaskByID(id string) (Task, error) {
	list, err := k.ListTasks()
	if err != nil {
		return Task{}, err
	}
	var found []Task
	for _, t := range list {
		if t.ID == id {
			return t, nil
		}
		if id != "" && strings.HasPrefix(t.ID, id) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return Task{}, fault.New(fault.Failed, "aibox tasks list shows them", "there is no task %q of %q", id, k.Project)
	case 1:
		return found[0], nil
	}
	return Task{}, fault.New(fault.Usage, "give more of it", "%q is the begin of %d tasks' ids", id, len(found))
}

// Alive tells whether the task's aibox lives. It creates no file.
func (t Task) Alive() (bool, error) {
	f := flock.New(filepath.Join(t.Dir, taskLockName), flock.SetFlag(os.O_RDONLY|openPlain))
	defer f.Close()
	ok, err := f.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, keepError("check the lock of the task", t.Dir, err)
	}
	return !ok, nil
}

// PID is the process id of a task that is alive, 0 if not known.
func (t Task) PID() int { return readPID(filepath.Join(t.Dir, taskLockName)) }

// Remove removes the task's folder, unless the task is alive.
func (t Task) Remove(ctx context.Context) error {
	alive, err := t.Alive()
	if err != nil {
		return err
	}
	if alive {
		return fault.New(fault.Refused, "wait for its end", "the task %s is running", t.ID)
	}
	root, err := os.OpenRoot(filepath.Dir(t.Dir))
	if err != nil {
		return keepError("open", filepath.Dir(t.Dir), err)
	}
	defer root.Close()
	aside, err := away.Move(root, filepath.Base(t.Dir))
	if err != nil {
		return keepError("remove", t.Dir, err)
	}
	return away.Remove(ctx, root, aside)
}

// RemoveTaskLeftovers removes what crashes left of removals and of folders
// that were never locked.
func (k Kept) RemoveTaskLeftovers(ctx context.Context, now time.Time) error {
	root, err := os.OpenRoot(k.Tasks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return keepError("open", k.Tasks(), err)
	}
	defer root.Close()
	if err := away.RemoveLeftovers(ctx, root); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return keepError("read", k.Tasks(), err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), newTaskPrefix) || now.Sub(info.ModTime()) < newTaskTime {
			continue
		}
		if err := away.Remove(ctx, root, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// CreateFile makes a new file in the task's folder, for the user alone.
func (t Task) CreateFile(name string) (*os.File, error) { return createNew(t.File(name)) }

// OpenConsoleLog opens the console's log, empty, for writing and reading it back.
func (t Task) OpenConsoleLog() (*os.File, error) { return openLog(t.ConsoleLog()) }

// OpenProxyLog opens the proxy's log, as OpenConsoleLog does.
func (t Task) OpenProxyLog() (*os.File, error) { return openLog(t.ProxyLog()) }

// OpenDisk makes the task's state disk and takes its name away again, so that
// nothing is left of it when the last process that has it open ends.
func (t Task) OpenDisk(gib int) (StateDisk, error) {
	path := filepath.Join(t.Dir, taskDiskName)
	if err := createSparse(path, int64(gib)<<30); err != nil {
		return StateDisk{}, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|openPlain, 0)
	if err != nil {
		return StateDisk{}, keepError("open the task's disk", path, err)
	}
	if err := os.Remove(path); err != nil {
		f.Close()
		return StateDisk{}, keepError("unlink the task's disk", path, err)
	}
	return StateDisk{File: f, Size: int64(gib) << 30, Created: true}, nil
}

func createNew(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|openPlain, 0o600)
	if err != nil {
		return nil, keepError("write", path, err)
	}
	return f, nil
}

// All returns what is kept, by path, without a look at it.
func (p Place) All() ([]Kept, error) {
	dirs, err := os.ReadDir(p.projects())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, keepError("read", p.projects(), err)
	}
	var list []Kept
	for _, d := range dirs {
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		k := Kept{Dir: filepath.Join(p.projects(), d.Name()), place: p}
		// A folder without a readable path is listed by its own name, so that it can be removed.
		if k.Project, _ = k.readPath(); k.Project == "" {
			k.Project = k.Dir
		}
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b Kept) int { return strings.Compare(a.Project, b.Project) })
	return list, nil
}
