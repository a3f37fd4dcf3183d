// Package pasteboard reads images from the user's clipboard with the desktop's
// own programs. They run below a helper, a copy of aibox that is started before
// aibox confines itself, since aibox can start nothing afterwards, and that
// answers aibox's questions until aibox ends. The helper is confined to these
// programs and the desktop's sockets; no byte of the VM's reaches it but the
// name of one of a few types.
package pasteboard

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Command is the hidden command that makes a copy of aibox the helper. Package
// cli passes it to Main.
const Command = "internal-clipboard"

// Limits.
const (
	// MaxImage is the largest image in bytes that is read.
	MaxImage = 64 << 20

	maxTypes  = 64 << 10
	maxSetup  = 64 << 10 // the helper's first message
	maxQuery  = 128      // in bytes
	listTime  = 1500 * time.Millisecond
	imageTime = 10 * time.Second
	// slack is what the helper itself may take.
	slack = 3 * time.Second
)

// Program reads the clipboard.
type Program struct {
	Path  string
	List  []string // arguments that print the types
	Image []string // arguments that print the contents as a type, without the type
	Env   []string
	Files []string // that it has to read
	// Scratch programs make a nameless file in /tmp: wl-paste shows a window of one
	// pixel where the compositor tells the clipboard to the active window only.
	Scratch bool
	// Apple is macOS's osascript, which is asked and answers in AppleScript; others
	// take a type behind the arguments of Image and print what they are asked for.
	Apple bool
}

// Host is what Find looks at.
type Host struct {
	Home   string
	Lookup func(name string) (string, bool) // environment
	System string                           // as runtime.GOOS, which is the default
}

// Find returns the programs that can read this desktop's clipboard, the best
// first: wl-paste under Wayland, xclip under X11, osascript on macOS. None is no error: the
// clipboard then stays closed. A display on another machine is left out.
func Find(h Host) []Program {
	value := func(name string) string { v, _ := h.Lookup(name); return v }
	if cmp.Or(h.System, runtime.GOOS) == "darwin" {
		return macOS(value)
	}
	common := []string{"LANG=C", "PATH=/usr/bin:/bin"}
	if v := value("LD_LIBRARY_PATH"); v != "" {
		common = append(common, "LD_LIBRARY_PATH="+v)
	}
	var list []Program
	if display := value("WAYLAND_DISPLAY"); display != "" {
		if path := find("wl-paste", value("PATH")); path != "" {
			list = append(list, Program{
				Path: path, List: []string{"--list-types"}, Image: []string{"--no-newline", "--type"},
				Env:     append(slices.Clone(common), "WAYLAND_DISPLAY="+display, "XDG_RUNTIME_DIR="+value("XDG_RUNTIME_DIR")),
				Scratch: true,
			})
		}
	}
	if display := value("DISPLAY"); strings.HasPrefix(display, ":") || strings.HasPrefix(display, "unix:") {
		if path := find("xclip", value("PATH")); path != "" {
			authority := value("XAUTHORITY")
			if authority == "" {
				authority = filepath.Join(h.Home, ".Xauthority")
			}
			arguments := []string{"-selection", "clipboard", "-o", "-t"}
			list = append(list, Program{
				Path: path, List: append(slices.Clone(arguments), "TARGETS"), Image: arguments,
				Env:   append(slices.Clone(common), "DISPLAY="+display, "XAUTHORITY="+authority),
				Files: []string{authority},
			})
		}
	}
	return list
}

// find looks for a program in the absolute folders of a PATH.
func find(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}
