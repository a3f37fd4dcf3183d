package project

import (
	"io/fs"
	"os"
	"path/filepath"
)

// forbidden says why the VM must not see the folder, "" if it may. The path
// must be free of links and lead to the folder that info describes.
//
// Three questions are asked. Is the folder one of those that lead from the
// file system's root to the home or to ~/.aibox? Is one of the folders above it
// ~/.aibox? Does the table of mounts show that the folder holds the home, or lies
// in ~/.aibox, by another way? The first two hold everywhere, the third needs
// a table of mounts and finds what is mounted at two places.
func (p Place) forbidden(path string, info fs.FileInfo) string {
	const above = ", so the VM would see all of it"
	for _, home := range p.homes {
		switch at, found := onTheWay(home, info); {
		case found && at == home:
			return "is your home folder" + above
		case found:
			return "holds your home folder" + above
		}
	}
	switch at, found := onTheWay(p.Root, info); {
	case found && at == p.Root:
		return "is where aibox keeps its own files"
	case found:
		return "holds ~/.aibox, where aibox keeps its own files"
	}
	if root, err := os.Stat(p.Root); err == nil {
		for dir := path; ; dir = filepath.Dir(dir) {
			if up, err := os.Stat(dir); err == nil && os.SameFile(up, root) {
				return "lies in ~/.aibox, where aibox keeps its own files"
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return p.forbiddenByMounts(path, readMounts())
}

// onTheWay looks for the folder among target and the folders above it, as
// target is spelled and as it is without links. For a match with target itself
// it returns target.
func onTheWay(target string, info fs.FileInfo) (string, bool) {
	ways := []string{target}
	if resolved, err := filepath.EvalSymlinks(target); err == nil && resolved != target {
		ways = append(ways, resolved)
	}
	for _, way := range ways {
		for dir := way; ; dir = filepath.Dir(dir) {
			if at, err := os.Stat(dir); err == nil && os.SameFile(at, info) {
				if dir == way {
					return target, true
				}
				return dir, true
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", false
}

// forbiddenByMounts compares where the folders are on their file systems, and
// looks at what is mounted below the folder, which a share would hold too.
func (p Place) forbiddenByMounts(path string, table mountTable) string {
	spots := []string{path}
	for _, m := range table {
		if m.point != path && within(m.point, path) {
			spots = append(spots, m.point)
		}
	}
	for i, spot := range spots {
		below := ""
		if i > 0 {
			below = "has a folder mounted in it that "
		}
		for _, home := range p.homes {
			if table.holds(spot, home) {
				return below + "holds your home folder, so the VM would see all of it"
			}
		}
		switch {
		case table.holds(spot, p.Root):
			return below + "holds ~/.aibox, where aibox keeps its own files"
		case table.holds(p.Root, spot):
			return below + "lies in ~/.aibox, where aibox keeps its own files"
		}
	}
	return ""
}
