package clip

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// wish is what a command line asks for: the list of types, or contents as a type.
type wish struct {
	list bool
	kind string // "image" for the first image
}

// errTextOnly tells a user of the VM what they see instead of a text.
var errTextOnly = errors.New("only images come from your clipboard, within 5 seconds after Ctrl+V; paste text by your terminal")

// Is tells whether a program's name is one of this package's.
func Is(name string) bool {
	name = path.Base(name)
	return name == XClip || name == WlPaste
}

// Names under which init is found in the VM.
const (
	XClip   = "xclip"
	WlPaste = "wl-paste"
)

func parse(args []string) (wish, error) {
	if path.Base(args[0]) == XClip {
		return parseXClip(args[1:])
	}
	return parseWlPaste(args[1:])
}

// parseXClip knows the options that read. xclip takes any clear beginning of
// an option's name.
func parseXClip(args []string) (wish, error) {
	var w wish
	out, selection := false, "primary"
	for i := 0; i < len(args); i++ {
		name := strings.TrimLeft(args[i], "-")
		value := func() string {
			if i++; i < len(args) {
				return args[i]
			}
			return ""
		}
		switch {
		case name == "" || name == args[i]:
			return w, fmt.Errorf("%q: only reading works here", args[i])
		case strings.HasPrefix("out", name):
			out = true
		case strings.HasPrefix("target", name):
			w.kind = value()
		case strings.HasPrefix("selection", name) && len(name) >= 2:
			selection = value()
		case strings.HasPrefix("display", name):
			value()
		case name == "quiet" || name == "silent" || name == "verbose" || name == "noutf8" || strings.HasPrefix(name, "rmlast"):
		default:
			return w, fmt.Errorf("%q: only reading works here", args[i])
		}
	}
	if !out {
		return w, errors.New("only reading works here")
	}
	if selection == "" || !strings.HasPrefix("clipboard", selection) {
		return w, errTextOnly
	}
	if w.kind == "TARGETS" {
		return wish{list: true}, nil
	}
	return w.checked()
}

func parseWlPaste(args []string) (wish, error) {
	var w wish
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch name {
		case "-l", "--list-types":
			w.list = true
		case "-t", "--type":
			if !given {
				if i++; i < len(args) {
					value = args[i]
				}
			}
			w.kind = value
		case "-n", "--no-newline":
		case "-p", "--primary":
			return w, errTextOnly
		default:
			return w, fmt.Errorf("%q: only reading works here", args[i])
		}
	}
	if w.list {
		return wish{list: true}, nil
	}
	return w.checked()
}

func (w wish) checked() (wish, error) {
	if w.kind != "image" && !strings.HasPrefix(w.kind, "image/") {
		return w, errTextOnly
	}
	return w, nil
}
