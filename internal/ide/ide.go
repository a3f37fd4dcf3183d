// Package ide finds the user's IDE that has a project open, by the lock files
// that IDEs leave for Claude Code in the user's home. These are the user's own
// files, which no VM can write.
package ide

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aibox/internal/wire"
)

// Limits on lock files.
const (
	maxFile  = 64 << 10 // bytes of one
	maxFiles = 200
)

// lockFolder holds the lock files, below a home. A file's name is the port.
const lockFolder = ".claude/ide"

// IDE is one that runs and has the project open.
type IDE struct {
	Name  string // such as "Visual Studio Code"
	Port  uint16 // on 127.0.0.1
	Token string
	// Root is the project's folder as the IDE spells it.
	Root string
}

// lock is a lock file's contents.
type lock struct {
	PID     int      `json:"pid,omitempty"`
	Folders []string `json:"workspaceFolders"`
	Name    string   `json:"ideName"`
	Kind    string   `json:"transport"`
	Token   string   `json:"authToken"`
}

// Find returns the IDE whose open folder is the project, or the nearest folder
// above it; of several the one that was started last. project is the clean path
// without links. ok is false when there is none. What is no lock file, belongs to
// an IDE that has ended, or speaks another protocol is passed over.
func Find(home, project string) (found IDE, ok bool) {
	files, err := os.ReadDir(filepath.Join(home, lockFolder))
	if err != nil {
		return IDE{}, false
	}
	best, newest := -1, time.Time{}
	for _, entry := range files[:min(len(files), maxFiles)] {
		file := filepath.Join(home, lockFolder, entry.Name())
		candidate, started, err := read(file)
		if err != nil {
			continue
		}
		for _, folder := range candidate.Folders {
			root, depth := spelled(folder, project)
			if root == "" || depth < best || depth == best && !started.After(newest) {
				continue
			}
			best, newest, ok = depth, started, true
			found = IDE{Name: candidate.Name, Port: port(file), Token: candidate.Token, Root: root}
		}
	}
	return found, ok
}

// read reads the lock file of an IDE that is alive.
func read(file string) (lock, time.Time, error) {
	info, err := os.Stat(file)
	if err != nil {
		return lock{}, time.Time{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile || port(file) == 0 {
		return lock{}, time.Time{}, fmt.Errorf("%s is no lock file of an IDE", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return lock{}, time.Time{}, err
	}
	var l lock
	if err := json.Unmarshal(text, &l); err != nil {
		return lock{}, time.Time{}, fmt.Errorf("read %s: %w", file, err)
	}
	if l.Kind != "ws" || l.Token == "" || !alive(l.PID) {
		return lock{}, time.Time{}, fmt.Errorf("%s is of no IDE that runs and speaks WebSocket", file)
	}
	return l, info.ModTime(), nil
}

func port(file string) uint16 {
	name, isLock := strings.CutSuffix(filepath.Base(file), ".lock")
	n, err := strconv.ParseUint(name, 10, 16)
	if err != nil || !isLock {
		return 0
	}
	return uint16(n)
}

// spelled returns the project's path as it begins with an open folder's own
// spelling, and how many folders lead to the open one; "" if that holds no project.
func spelled(folder, project string) (string, int) {
	if !filepath.IsAbs(folder) {
		return "", 0
	}
	folder = filepath.Clean(folder)
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", 0
	}
	rel, err := filepath.Rel(real, project)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", 0
	}
	return filepath.Join(folder, rel), strings.Count(real, string(filepath.Separator))
}

// LockPath is where the VM's lock file goes, in the VM's home.
func LockPath() string { return fmt.Sprintf("%s/%d.lock", lockFolder, wire.IDEPort) }

// LockFile is the VM's lock file for the IDE. It names no process, since that of
// the IDE is none of the VM's: Claude Code then looks whether the port answers.
func LockFile(i IDE, token string) ([]byte, error) {
	return json.Marshal(lock{Folders: []string{wire.GuestProject}, Name: i.Name, Kind: "ws", Token: token})
}
