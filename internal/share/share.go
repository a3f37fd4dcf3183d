// Package share says which folders a VM sees. The packages below it serve them.
package share

import (
	"fmt"
	"os"
)

// Folder is one folder that the VM sees.
type Folder struct {
	// Name is the folder's name on the share device: "project", "home", "m0".
	Name string
	// Dir is the folder, opened. What is served is this very folder, whatever
	// its path leads to later.
	Dir *os.File
	// ReadOnly is enforced by the host.
	ReadOnly bool
}

// MaxFolders bounds the folders of one VM.
const MaxFolders = 256

// Check tells whether folders can be served: names of a-z and 0-9, each once.
func Check(folders []Folder) error {
	if len(folders) > MaxFolders {
		return fmt.Errorf("%d shared folders are more than %d", len(folders), MaxFolders)
	}
	seen := map[string]bool{}
	for _, f := range folders {
		if !valid(f.Name) || seen[f.Name] || f.Dir == nil {
			return fmt.Errorf("shared folder %q: its name is not valid, taken, or it is not open", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

func valid(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 32
}
