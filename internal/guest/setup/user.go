package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"aibox/internal/wire"
)

// Files of the user's set-up in the home.
const (
	claudeFolder = ".claude"
	memoryFile   = claudeFolder + "/CLAUDE.md"
	settingsFile = claudeFolder + "/settings.json"
	// recordFile remembers what was copied last, so that what the user changed
	// in the VM since is told from it. It goes where the copies go: with the home.
	recordFile = claudeFolder + "/.copied-by-aibox.json"
)

// record is the contents of recordFile.
type record struct {
	Memory   string                     `json:"memory"`
	Settings map[string]json.RawMessage `json:"settings"`
}

// User copies the user's own CLAUDE.md and settings into the home. What the
// user changed in the VM stays: a setting that differs from the last copy, and
// every line of CLAUDE.md beside the copied ones. What the host no longer has is
// removed where it is still as it was copied. Files that cannot be understood
// are left alone. The files belong to uid and gid.
func User(home string, uid, gid int, now wire.UserSetup) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("open the home: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(claudeFolder, 0o700); err == nil {
		if err := root.Lchown(claudeFolder, uid, gid); err != nil && os.Geteuid() == 0 {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	u := user{root: root, uid: uid, gid: gid, last: readRecord(root)}
	next := record{}
	var memoryErr, settingsErr, recordErr error
	next.Memory, memoryErr = u.memory(string(now.Memory))
	next.Settings, settingsErr = u.settings(now.Settings)
	text, err := json.Marshal(next)
	if err == nil {
		recordErr = u.write(recordFile, text)
	}
	return errors.Join(memoryErr, settingsErr, err, recordErr)
}

type user struct {
	root     *os.Root
	uid, gid int
	last     record
}

// readRecord returns an empty record where there is none that can be read.
func readRecord(root *os.Root) (r record) {
	text, err := read(root, recordFile)
	if err != nil || json.Unmarshal(text, &r) != nil {
		return record{}
	}
	return r
}

// write replaces a file whose contents are others.
func (u user) write(name string, text []byte) error {
	if old, err := read(u.root, name); err == nil && old != nil && bytes.Equal(old, text) {
		return nil
	}
	return replace(u.root, name, text, u.uid, u.gid)
}

// memory brings CLAUDE.md up to date and returns what stands in it as copied.
func (u user) memory(now string) (copied string, err error) {
	old, err := read(u.root, memoryFile)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing || !missing && old == nil {
		return u.last.Memory, err
	}
	if missing && u.last.Memory != "" && now == u.last.Memory {
		return u.last.Memory, nil // removed in the VM
	}
	text, copied := mergeMemory(string(old), u.last.Memory, now)
	switch {
	case text == string(old):
		return copied, nil
	case strings.TrimSpace(text) == "":
		return copied, u.root.Remove(memoryFile)
	}
	return copied, u.write(memoryFile, []byte(text))
}

// mergeMemory returns the file's text with now in the place of last, and what
// of it counts as copied. A copy that was edited in the VM stays as it is.
func mergeMemory(file, last, now string) (text, copied string) {
	switch {
	case last != "" && strings.Contains(file, last):
		return strings.Replace(file, last, now, 1), now
	case last != "" && strings.TrimSpace(file) != "":
		return file, last
	case now == "" || strings.Contains(file, now):
		return file, now
	case strings.TrimSpace(file) == "":
		return now, now
	}
	return now + "\n" + file, now
}

// settings brings settings.json up to date and returns the values that stand
// in it as copied.
func (u user) settings(now map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	old, err := read(u.root, settingsFile)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte("{}"), nil
		if len(now) == 0 {
			return u.last.Settings, nil
		}
	}
	if err != nil {
		return u.last.Settings, err
	}
	var file map[string]json.RawMessage
	if json.Unmarshal(old, &file) != nil || file == nil {
		return u.last.Settings, nil // Claude Code reports its own damaged file
	}
	changed, copied := mergeSettings(file, u.last.Settings, now)
	if !changed {
		return copied, nil
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return u.last.Settings, err
	}
	return copied, u.write(settingsFile, append(text, '\n'))
}

// mergeSettings changes file, and returns what of it counts as copied. A value
// that is not the last copy, a missing one included, was chosen in the VM.
func mergeSettings(file, last, now map[string]json.RawMessage) (changed bool, copied map[string]json.RawMessage) {
	copied = map[string]json.RawMessage{}
	for key, before := range last {
		_, wanted := now[key]
		switch {
		case !same(file[key], before) && wanted:
			copied[key] = before // so that it stays the user's choice
		case same(file[key], before) && !wanted:
			delete(file, key)
			changed = true
		}
	}
	for key, value := range now {
		switch current := file[key]; {
		case same(current, value):
			copied[key] = value
		case same(current, last[key]):
			file[key], copied[key], changed = value, value, true
		}
	}
	return changed, copied
}

// same compares JSON values; a missing one is like no other.
func same(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
