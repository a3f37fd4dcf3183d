package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// guardPath takes the current folder out of the PATH of this process and of all
// that it starts: direnv and its like put folders of a project there, and a VM
// could have left a program named git in one.
func guardPath() {
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	_ = os.Setenv("PATH", pathOutside(os.Getenv("PATH"), dir, os.Getenv("HOME")))
}

// pathOutside returns path without the entries that are dir or below it, by
// their name or by where they lead, and without those that are not absolute.
// The home and what is above it is never a project, and its programs stay.
func pathOutside(path, dir, home string) string {
	dirs := spellings(dir)
	below := func(name string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return isBelow(name, dir) })
	}
	if slices.ContainsFunc(spellings(home), below) {
		return path
	}
	entries := slices.DeleteFunc(filepath.SplitList(path), func(entry string) bool {
		return !filepath.IsAbs(entry) || slices.ContainsFunc(spellings(entry), below)
	})
	return strings.Join(entries, string(filepath.ListSeparator))
}

// spellings are a folder's name and where it leads.
func spellings(dir string) []string {
	names := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		names = append(names, real)
	}
	return names
}

func isBelow(name, dir string) bool {
	rest, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rest)
}
