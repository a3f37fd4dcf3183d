// Package usersetup reads what of the user's own set-up of Claude Code a VM
// gets: from ~/.claude the folders of skills, agents and commands, CLAUDE.md, and
// a few harmless settings. Nothing outside of ~/.claude is read: a link that leads
// out of it is left out, since a VM could write where it leads to.
package usersetup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"aibox/internal/config"
	"aibox/internal/project"
	"aibox/internal/wire"
)

// Limits of what is copied, in bytes: it travels in the boot message.
const (
	maxMemory   = 100 << 10
	maxSettings = 1 << 20 // of the file; what is copied of it is much less
)

const (
	folderName   = ".claude"
	memoryName   = "CLAUDE.md"
	settingsName = "settings.json"
)

// Setup is what a VM gets.
type Setup struct {
	// Folders are shared read-only, at wire.GuestHome/.claude/Name in the VM.
	Folders []Folder
	// Copied is copied into the VM's home.
	Copied wire.UserSetup
	// LeftOut are lines for the user: what is there and is not passed on, and why.
	LeftOut []string
}

// Folder is an opened folder of ~/.claude.
type Folder struct {
	Name string // "skills", "agents" or "commands"
	Dir  *os.File
}

// Target is where the folder is in the VM.
func (f Folder) Target() string { return wire.GuestHome + "/" + folderName + "/" + f.Name }

// Read reads the parts of home's .claude that the settings name. What is not
// there is no part; what cannot be passed on is named in LeftOut.
func Read(place project.Place, home string, s config.Settings) *Setup {
	r := reader{setup: &Setup{}, place: place, dir: filepath.Join(home, folderName)}
	root, err := os.OpenRoot(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return r.setup
	}
	if err != nil {
		r.leaveOut("", "", err)
		return r.setup
	}
	defer root.Close()
	r.root = root
	for _, part := range []struct {
		name string
		on   bool
	}{{"skills", s.Skills}, {"agents", s.Agents}, {"commands", s.Commands}} {
		if part.on {
			r.folder(part.name)
		}
	}
	if s.ClaudeMD {
		r.memory()
	}
	if s.Settings {
		r.settings()
	}
	return r.setup
}

// Close closes the folders.
func (s *Setup) Close() error {
	for _, f := range s.Folders {
		_ = f.Dir.Close() // read-only
	}
	return nil
}

type reader struct {
	setup *Setup
	place project.Place
	dir   string
	root  *os.Root
}

// leaveOut tells the user about a part that exists and is not passed on.
func (r *reader) leaveOut(name, key string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	line := fmt.Sprintf("~/%s is left out of the VM: %v", filepath.ToSlash(filepath.Join(folderName, name)), err)
	if key != "" {
		line += fmt.Sprintf(`; "%s: false" in the config says that this is meant`, key)
	}
	r.setup.LeftOut = append(r.setup.LeftOut, line)
}

// folder opens a folder that lies in ~/.claude, checked like a mount.
func (r *reader) folder(name string) {
	inside, err := r.root.Stat(name)
	if err != nil {
		r.leaveOut(name, name, r.escape(name, err))
		return
	}
	folder, err := r.place.OpenMount(filepath.Join(r.dir, name))
	if err != nil {
		r.leaveOut(name, name, err)
		return
	}
	if opened, err := folder.Dir.Stat(); err != nil || !os.SameFile(inside, opened) {
		folder.Dir.Close()
		r.leaveOut(name, name, errors.New("it was replaced while it was opened"))
		return
	}
	r.setup.Folders = append(r.setup.Folders, Folder{Name: name, Dir: folder.Dir})
}

func (r *reader) memory() {
	text, err := r.file(memoryName, maxMemory)
	if err != nil {
		r.leaveOut(memoryName, "claude-md", err)
		return
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	r.setup.Copied.Memory = text
}

func (r *reader) settings() {
	text, err := r.file(settingsName, maxSettings)
	if err == nil {
		r.setup.Copied.Settings, err = harmless(text)
	}
	if err != nil {
		r.leaveOut(settingsName, "settings", err)
	}
}

// file reads a plain file that lies in ~/.claude.
func (r *reader) file(name string, limit int) ([]byte, error) {
	f, err := r.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, r.escape(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(text) > limit {
		err = fmt.Errorf("it has more than %d KiB", limit>>10)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// escape says in plain words that a link leads out, which os.Root refuses.
func (r *reader) escape(name string, err error) error {
	info, lerr := r.root.Lstat(name)
	if lerr != nil || info.Mode()&fs.ModeSymlink == 0 {
		return err
	}
	return errors.New("it is a link that leads out of ~/.claude or nowhere")
}

// harmless returns the settings of the text that the VM gets.
func harmless(text []byte) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	kept := map[string]json.RawMessage{}
	for name, form := range allowed() {
		if value, ok := all[name]; ok && form.fits(value) {
			kept[name] = value
		}
	}
	return kept, nil
}
