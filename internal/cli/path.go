package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aibox/internal/project"
)

// guardPrograms keeps this process, and all that it starts, from taking programs
// from where a VM could have left one under the name git: the current folder and
// the folders of other projects. direnv and its like put such folders into PATH,
// and XDG_CONFIG_HOME can lead git to a configuration with programs in it.
func guardPrograms() {
	home := os.Getenv("HOME")
	written := writtenByVMs(home)
	if path := os.Getenv("PATH"); path != "" { // in an empty one nothing is found
		_ = os.Setenv("PATH", pathWithout(path, written))
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" && leadsInto(dir, written) {
		_ = os.Unsetenv("XDG_CONFIG_HOME")
	}
}

// writtenByVMs are the folders that a VM may have written: the current one and
// those of all kept projects, but none that holds the home, which is never a project.
func writtenByVMs(home string) (folders []fs.FileInfo) {
	var dirs []string
	if dir, err := os.Getwd(); err == nil {
		dirs = append(dirs, dir)
	}
	if place, err := project.NewPlace(home); err == nil {
		kept, _ := place.All()
		for _, k := range kept {
			dirs = append(dirs, k.Project)
		}
	}
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err == nil && filepath.Dir(dir) != dir && !leadsInto(home, []fs.FileInfo{info}) {
			folders = append(folders, info)
		}
	}
	return folders
}

// pathWithout returns path without the entries that lead into the folders, and
// without those that are not absolute. Of a path with no other there remains
// the system's own, since an empty one would mean the current folder.
func pathWithout(path string, folders []fs.FileInfo) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(entry string) bool {
		return !filepath.IsAbs(entry) || leadsInto(entry, folders)
	})
	if len(entries) == 0 {
		return "/usr/bin:/bin"
	}
	return strings.Join(entries, string(filepath.ListSeparator))
}

// leadsInto tells whether dir is one of the folders or below one, by the folders
// on the way that its name takes, or on that to where it leads. Folders are
// compared by identity, since one can have many names.
func leadsInto(dir string, folders []fs.FileInfo) bool {
	names := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		names = append(names, real)
	}
	for _, name := range names {
		for ; filepath.Dir(name) != name; name = filepath.Dir(name) {
			info, err := os.Stat(name)
			if err == nil && slices.ContainsFunc(folders, func(folder fs.FileInfo) bool { return os.SameFile(info, folder) }) {
				return true
			}
		}
	}
	return false
}
