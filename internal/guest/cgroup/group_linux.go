package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// delegated are the files that the kernel's documentation has the new owner
// write; the limits of the group itself stay root's.
func delegated() []string {
	return []string{".", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"}
}

// Group is the group of one session.
type Group struct {
	dir  string
	main *os.File
}

// New makes the group of a session and gives it to the user.
func (t *Tree) New(name string, uid, gid int) (*Group, error) {
	dir := filepath.Join(t.user, name)
	main := filepath.Join(dir, "main")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make control group: %w", err)
	}
	g := &Group{dir: dir}
	if err := g.prepare(main, uid, gid); err != nil {
		g.Remove()
		return nil, err
	}
	return g, nil
}

func (g *Group) prepare(main string, uid, gid int) error {
	if err := write(g.dir, "cgroup.subtree_control", controllers); err != nil {
		return err
	}
	if err := os.Mkdir(main, 0o755); err != nil {
		return fmt.Errorf("make control group: %w", err)
	}
	for _, dir := range []string{g.dir, main} {
		for _, name := range delegated() {
			if err := os.Chown(filepath.Join(dir, name), uid, gid); err != nil {
				return fmt.Errorf("give control group to the user: %w", err)
			}
		}
	}
	f, err := os.Open(main)
	if err != nil {
		return fmt.Errorf("open control group: %w", err)
	}
	g.main = f
	return nil
}

// FD is the descriptor of the group in which the session's first process
// starts, for SysProcAttr.CgroupFD. It is valid until Remove.
func (g *Group) FD() int { return int(g.main.Fd()) }

// Kill ends all processes of the group and waits until they are gone.
func (g *Group) Kill(timeout time.Duration) error { return kill(g.dir, timeout) }

// Remove removes the group and all below it. The processes must be gone; a
// group that still has one stays, which costs little and harms nobody.
func (g *Group) Remove() {
	if g.main != nil {
		g.main.Close()
	}
	removeAll(g.dir, maxDepth)
}

// removeAll removes the folders from the deepest up; os.RemoveAll would fail
// at the kernel's files, which vanish only with their folder.
func removeAll(dir string, depth int) {
	entries, err := os.ReadDir(dir)
	if err != nil || depth < 0 {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			removeAll(filepath.Join(dir, e.Name()), depth-1)
		}
	}
	_ = os.Remove(dir)
}

func kill(dir string, timeout time.Duration) error {
	if err := write(dir, "cgroup.kill", "1"); err != nil {
		return err
	}
	return waitEmpty(dir, timeout)
}

var errNotEmpty = errors.New("processes are left")

// waitEmpty waits for the kernel's word that no process is left in dir or below.
func waitEmpty(dir string, timeout time.Duration) error {
	f, err := os.Open(filepath.Join(dir, "cgroup.events"))
	if err != nil {
		return fmt.Errorf("watch control group: %w", err)
	}
	defer f.Close()
	deadline := time.Now().Add(timeout)
	buf := make([]byte, 256)
	for {
		n, err := f.ReadAt(buf, 0)
		if n > 0 && !populated(string(buf[:n])) {
			return nil
		}
		left := time.Until(deadline)
		if n == 0 && err != nil || left <= 0 {
			return fmt.Errorf("control group %s: %w", dir, errNotEmpty)
		}
		poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLPRI}}
		_, _ = unix.Poll(poll, int(left.Milliseconds())+1)
	}
}
