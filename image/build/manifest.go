package build

import (
	"os"
	"path/filepath"
	"strings"

	"aibox/image/cache"
	"aibox/image/debian"
)

// manifestFormat is counted up when a reader of an older manifest would
// misread a newer one.
const manifestFormat = 1

// manifestFile is the manifest's name in the image's folder.
const manifestFile = "manifest.json"

// Manifest is manifest.json: what an image is and what is in it.
type Manifest struct {
	Format   int                   `json:"format"`
	Arch     string                `json:"arch"`
	Test     bool                  `json:"test"` // holds the program that gives root: never for users
	Files    map[string]fileDigest `json:"files"`
	Kernel   debian.Package        `json:"kernel"`
	Claude   debian.Package        `json:"claude"`
	Suite    string                `json:"suite"`
	Packages []debian.Package      `json:"packages"`
}

// manifest describes the image whose disk is in the folder disk.
func (j *job) manifest(disk string) (*Manifest, error) {
	m := &Manifest{
		Format: manifestFormat, Arch: "amd64", Test: j.Test, Suite: j.pins.Debian.Suite,
		Claude: debian.Package{Name: j.pins.Claude.Package, Version: j.pins.Claude.Version},
	}
	var digest fileDigest
	if err := readJSON(filepath.Join(disk, digestFile), &digest); err != nil {
		return nil, err
	}
	kernel := j.results[stepKernel]
	sum, size, err := cache.DigestOf(filepath.Join(kernel, kernelFile))
	if err != nil {
		return nil, err
	}
	version, err := os.ReadFile(filepath.Join(kernel, kernelVersion))
	if err != nil {
		return nil, err
	}
	m.Files = map[string]fileDigest{kernelFile: {sum, size}, diskFile: digest}
	m.Kernel = debian.Package{Name: j.pins.Kernel.Package, Version: strings.TrimSpace(string(version))}
	return m, readJSON(filepath.Join(j.results[stepBase], packageList), &m.Packages)
}
