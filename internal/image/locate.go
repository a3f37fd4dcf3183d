package image

import (
	"os"
	"path/filepath"

	"aibox/internal/fault"
)

// Search says where to look for the image.
type Search struct {
	Flag    string   // --image; empty for none
	Package []string // the packages' folders; DefaultPackage if nil
	Home    string   // aibox's folder, ~/.aibox
	Build   Build    // of this binary
}

// Found is the image's folder and the digests its files must have.
type Found struct {
	Dir     string
	Digests Digests
}

// DefaultPackage are the folders into which packages put the image.
func DefaultPackage() []string { return []string{"/usr/lib/aibox", "/opt/homebrew/lib/aibox"} }

// Locate returns the first folder that has a kernel: --image, the package's folder,
// then ~/.aibox/image/ with the release's version, or with "dev" for a build from a
// checkout. An image named by --image is used unchecked, and is an error when it
// is not there; every other one must have the digests of the build.
func Locate(s Search) (Found, error) {
	if s.Flag != "" {
		dir, err := filepath.Abs(s.Flag)
		if err != nil {
			return Found{}, err
		}
		if !hasKernel(dir) {
			return Found{}, fault.New(fault.Usage, "name a folder with "+KernelName+" and "+RootDiskName,
				"--image %s: no %s in it", s.Flag, KernelName)
		}
		return Found{Dir: dir}, nil
	}
	folders := s.Package
	if folders == nil {
		folders = DefaultPackage()
	}
	name := s.Build.Version
	if !s.Build.Release() {
		name = "dev"
		folders = nil // a package's image belongs to the package's own aibox
	}
	own := filepath.Join(s.Home, "image", name)
	for _, dir := range append(folders[:len(folders):len(folders)], own) {
		if hasKernel(dir) {
			return Found{Dir: dir, Digests: s.Build.Digests}, nil
		}
	}
	return Found{}, missing(s.Build, own)
}

func missing(b Build, dir string) error {
	if b.Release() {
		return fault.New(fault.Machine, "install aibox's package, or build an image in a checkout: make image",
			"no image of version %s in %s, and downloading it is not yet possible", b.Version, dir)
	}
	return fault.New(fault.Machine, "build it in the checkout: make image", "no image in %s", dir)
}

func hasKernel(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, KernelName))
	return err == nil
}
