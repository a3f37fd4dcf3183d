package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aibox/internal/fault"

	"github.com/gofrs/flock"
)

// Times for taking a lock. "projects list" holds one for an instant to see
// whether it is free, so a busy lock is tried again for a moment.
const (
	lockPatience = 500 * time.Millisecond
	lockPause    = 20 * time.Millisecond
	lockRetries  = 5
)

// Lock is a lock on a project. The system releases it when the process ends,
// however it ends.
type Lock struct{ held []*flock.Flock }

// Release gives the lock back.
func (l *Lock) Release() {
	for _, f := range l.held {
		_ = f.Unlock() // nothing can be done about it, and the end of the process does it too
	}
	l.held = nil
}

// LockRun takes the lock that a run holds. Two runs of one project would write
// to one state disk at once, so a second one is refused with the first one's
// process id.
func (k Kept) LockRun() (*Lock, error) {
	f, err := k.lock(runLockName, false)
	if err != nil {
		return nil, err
	}
	return &Lock{[]*flock.Flock{f}}, nil
}

// LockTask takes the lock that all tasks of a project share.
func (k Kept) LockTask() (*Lock, error) {
	f, err := k.lock(tasksLockName, true)
	if err != nil {
		return nil, err
	}
	return &Lock{[]*flock.Flock{f}}, nil
}

// LockAll takes both locks, so that neither a run nor a task lives.
func (k Kept) LockAll() (*Lock, error) {
	l := &Lock{}
	for _, name := range []string{tasksLockName, runLockName} { // the run's, which says when it was, only with the other one
		f, err := k.lock(name, false)
		if err != nil {
			l.Release()
			return nil, err
		}
		l.held = append(l.held, f)
	}
	return l, nil
}

// lock takes one lock. A lock file that was removed between opening and
// locking protects nothing, so it is checked that the path still leads to it.
func (k Kept) lock(name string, shared bool) (*flock.Flock, error) {
	path := filepath.Join(k.Dir, name)
	for range lockRetries {
		f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|openPlain), flock.SetPermissions(0o600))
		ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
		try := f.TryLockContext
		if shared {
			try = f.TryRLockContext
		}
		ok, err := try(ctx, lockPause)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded), err == nil && !ok:
			return nil, k.busy(name)
		case err != nil:
			return nil, keepError("lock", path, err)
		}
		held, err := f.Stat()
		if there, err2 := os.Lstat(path); err == nil && err2 == nil && os.SameFile(held, there) {
			if !shared {
				notePID(path)
			}
			return f, nil
		}
		_ = f.Unlock()
	}
	return nil, fault.New(fault.Refused, "try again", "the lock %q was replaced again and again", path)
}

func (k Kept) busy(name string) error {
	pid := readPID(filepath.Join(k.Dir, name))
	who := ""
	if pid > 0 {
		who = fmt.Sprintf(" (process %d)", pid)
	}
	if name == tasksLockName {
		return fault.New(fault.Refused, "wait for its end", "a task of %q is running", k.Project)
	}
	hint := "leave that session first"
	if pid > 0 {
		hint += fmt.Sprintf(", or end it: kill %d", pid)
	}
	return fault.New(fault.Refused, hint, "aibox is running for %q already%s", k.Project, who)
}

// notePID writes this process's id into a lock file that is held. It is for
// people only: whether the lock is free is never judged by it. So it does not
// matter where it cannot be written, as on a full disk, which a removal shall free.
func notePID(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|openPlain, 0)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = fmt.Fprintln(f, os.Getpid())
}

func readPID(path string) int {
	f, err := os.OpenFile(path, os.O_RDONLY|openPlain, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 20))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// Running tells whether a run or a task lives, and the run's process id where
// it is known. It creates no file.
func (k Kept) Running() (pid int, running bool) {
	for _, name := range []string{runLockName, tasksLockName} {
		path := filepath.Join(k.Dir, name)
		f := flock.New(path, flock.SetFlag(os.O_RDONLY|openPlain))
		// A run's lock admits no other; a task's admits other tasks.
		try := f.TryRLock
		if name == tasksLockName {
			try = f.TryLock
		}
		ok, err := try()
		_ = f.Close()
		if err == nil && !ok {
			if name == runLockName {
				pid = readPID(path)
			}
			return pid, true
		}
	}
	return 0, false
}
