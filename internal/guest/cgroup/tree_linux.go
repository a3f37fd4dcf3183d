package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// controllers are what a session may divide among its own groups.
const controllers = "+cpu +memory +io +pids +cpuset"

// Tree is the mounted hierarchy.
type Tree struct {
	user string
}

// Setup prepares the hierarchy mounted at root.
func Setup(root string, limits Limits) (*Tree, error) {
	if err := write(root, "cgroup.subtree_control", controllers); err != nil {
		return nil, err
	}
	user := filepath.Join(root, "user")
	if err := os.Mkdir(user, 0o755); err != nil && !os.IsExist(err) {
		return nil, fmt.Errorf("make control group: %w", err)
	}
	for _, setting := range [][2]string{
		{"cgroup.subtree_control", controllers},
		{"cgroup.max.depth", strconv.Itoa(maxDepth)},
		{"cgroup.max.descendants", strconv.Itoa(maxDescendants)},
		{"memory.max", strconv.FormatUint(limits.Memory, 10)},
		{"pids.max", strconv.FormatUint(limits.PIDs, 10)},
	} {
		if err := write(user, setting[0], setting[1]); err != nil {
			return nil, err
		}
	}
	return &Tree{user: user}, nil
}

// KillAll ends every process of every session at once, also those that fork
// as fast as they can, and waits until they are gone or the time is over.
func (t *Tree) KillAll(timeout time.Duration) error { return kill(t.user, timeout) }

// WaitEmpty waits until no session has a process. It tells whether that is so.
func (t *Tree) WaitEmpty(timeout time.Duration) bool { return waitEmpty(t.user, timeout) == nil }

func write(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("set %s: %w", file, err)
	}
	defer f.Close()
	if _, err := f.WriteString(value); err != nil {
		return fmt.Errorf("set %s of %s to %q: %w", file, dir, value, err)
	}
	return nil
}
