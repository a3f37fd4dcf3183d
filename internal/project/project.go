// Package project knows every path that aibox keeps on disk for a project and
// is the only one to make, open, lock and remove them. It decides which folders
// may be shown to a VM at all, by the identity of folders and not by how their
// paths are spelled.
//
// What lies in a project's home was written by the VM: nothing here follows a
// link in it, and nothing in it is parsed.
package project

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// Names of what is kept, below Place.Root and below Kept.Dir. All on-disk
// names are here and nowhere else.
const (
	rootName     = ".aibox"
	projectsName = "projects"
	imagesName   = "image"

	configName     = "config.yaml"
	homeName       = "home"
	stateDiskName  = "state.ext4"
	consoleLogName = "console.log"
	proxyLogName   = "proxy.log"
	tasksName      = "tasks"
	pathName       = "path"
	runLockName    = "run.lock"
	tasksLockName  = "tasks.lock"
)

// Kept names what aibox keeps for one project. It is only names: nothing needs
// to exist.
type Kept struct {
	Dir     string // the project's folder below ~/.aibox/projects
	Project string // the project's own path

	place Place
}

// Config is the project's config.
func (k Kept) Config() string { return filepath.Join(k.Dir, configName) }

// Home is the folder that is the VM's home.
func (k Kept) Home() string { return filepath.Join(k.Dir, homeName) }

// StateDisk is the disk for the VM's /usr/local and ~/.cache.
func (k Kept) StateDisk() string { return filepath.Join(k.Dir, stateDiskName) }

// ConsoleLog is what the kernel and init of the last run printed.
func (k Kept) ConsoleLog() string { return filepath.Join(k.Dir, consoleLogName) }

// ProxyLog is what the last run's proxy connected and refused.
func (k Kept) ProxyLog() string { return filepath.Join(k.Dir, proxyLogName) }

// Tasks is the folder of the project's tasks.
func (k Kept) Tasks() string { return filepath.Join(k.Dir, tasksName) }

// maxNameBytes is what an escaped path is cut to, well below the 255 bytes
// of usual file systems since some that encrypt names take fewer.
const maxNameBytes = 200

// Name returns the name of the folder that is kept for the project at path:
// letters and digits stay, "/" becomes "-", any other byte becomes "_" and two
// hex digits, so different paths have different names. A name that gets
// too long is cut and ends in a hash of the whole path.
func Name(path string) string {
	const digits = "0123456789abcdef"
	name := make([]byte, 0, len(path)*2)
	for _, c := range []byte(filepath.ToSlash(path)) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			name = append(name, c)
		case c == '/':
			name = append(name, '-')
		default:
			name = append(name, '_', digits[c>>4], digits[c&15])
		}
	}
	if len(name) <= maxNameBytes {
		return string(name)
	}
	sum := sha256.Sum256([]byte(path))
	hash := hex.EncodeToString(sum[:16])
	return string(name[:maxNameBytes-1-len(hash)]) + "-" + hash
}
