package image

import (
	"encoding/json"
	"io"
	"path/filepath"
)

// ManifestName is the file beside the kernel that says what is in an image.
const ManifestName = "manifest.json"

// maxManifest bounds an image's manifest in bytes.
const maxManifest = 4 << 20

// Manifest is the part of an image's manifest that people ask for.
type Manifest struct {
	Arch  string `json:"arch"`
	Test  bool   `json:"test"` // the image gives root in the VM and is for tests only
	Files map[string]struct {
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
	} `json:"files"`
	Kernel   Package   `json:"kernel"`
	Claude   Package   `json:"claude"`
	Suite    string    `json:"suite"` // of Debian
	Packages []Package `json:"packages"`
}

// Package is a program in an image.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ReadManifest reads the manifest of the image in dir and returns its text too.
func ReadManifest(dir string) (text []byte, m Manifest, err error) {
	path := filepath.Join(dir, ManifestName)
	f, size, err := open(path)
	if err != nil {
		return nil, m, err
	}
	defer f.Close()
	if size > maxManifest {
		return nil, m, damaged(path, "it has %d bytes", size)
	}
	if text, err = io.ReadAll(io.LimitReader(f, maxManifest)); err != nil {
		return nil, m, unusable(path, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, Manifest{}, unusable(path, err)
	}
	return text, m, nil
}
