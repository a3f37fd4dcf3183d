package virtiofs

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/jail/bwrap"
	"aibox/internal/proc"
)

// Places of a bundle's files below its folder: those of Debian's packages.
const (
	bundleProgram   = "/usr/libexec/virtiofsd"
	bundleLibraries = "/usr/lib/x86_64-linux-gnu"
)

// DefaultBundle is the folder into which `make setup` puts virtiofsd where the
// machine has none: AIBOX_VIRTIOFSD, else below the user's cache.
func DefaultBundle(getenv func(string) string) string {
	if dir := getenv("AIBOX_VIRTIOFSD"); dir != "" {
		return dir
	}
	cache := getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		cache = filepath.Join(getenv("HOME"), ".cache")
	}
	return filepath.Join(cache, "aibox", "virtiofsd")
}

// packaged are where packages put virtiofsd outside of PATH.
func packaged() []string {
	return []string{"/usr/libexec/virtiofsd", "/usr/lib/virtiofsd", "/usr/lib/qemu/virtiofsd"}
}

// find returns a sandbox with virtiofsd's program and libraries and no more:
// the machine's own, else the bundle's.
func find(ctx context.Context, bundle string) (bwrap.Sandbox, error) {
	places := packaged()
	if path, err := proc.Look("virtiofsd"); err == nil {
		places = append([]string{path}, places...)
	}
	for _, path := range places {
		if usable(ctx, path) {
			return installed(ctx, path)
		}
	}
	if _, err := os.Stat(bundle + bundleProgram); err == nil {
		return bundled(bundle), nil
	}
	return bwrap.Sandbox{}, fault.New(fault.Machine, "install it: sudo apt-get install virtiofsd (Debian 13, Ubuntu 24.04); or in a checkout: make setup",
		"virtiofsd, which serves the project's files to the VM, is not installed")
}

// isRust matches how the server written in Rust names itself. The one written in C
// that older QEMUs bring says "virtiofsd version 7.2.0" and lacks what is needed.
func isRust(version string) bool {
	return regexp.MustCompile(`^virtiofsd(-[a-z]+| backend)? [1-9][0-9]*\.[0-9]`).MatchString(version)
}

func usable(ctx context.Context, path string) bool {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	out, err := proc.Output(ctx, proc.Cmd{Name: "virtiofsd", Path: path, Args: []string{"--version"}})
	return err == nil && isRust(string(out))
}

func installed(ctx context.Context, path string) (bwrap.Sandbox, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return bwrap.Sandbox{}, err
	}
	s := bwrap.Sandbox{Program: real, Held: []bwrap.Bind{{Source: real, Dest: real}}}
	if strings.HasPrefix(real, "/nix/store/") {
		s.Held = []bwrap.Bind{{Source: "/nix/store", Dest: "/nix/store"}}
		return s, nil
	}
	s.Binds, s.LibraryPath, err = bwrap.Libraries(ctx, real)
	return s, err
}

// bundled shows the bundle's files at the places for which they were built, so
// that its program starts with its own loader and libraries.
func bundled(dir string) bwrap.Sandbox {
	return bwrap.Sandbox{
		Program:     bundleProgram,
		Held:        []bwrap.Bind{{Source: filepath.Join(dir, "usr"), Dest: "/usr"}},
		Links:       []bwrap.Link{{Target: "usr/lib", Path: "/lib"}, {Target: "usr/lib64", Path: "/lib64"}},
		LibraryPath: []string{bundleLibraries},
	}
}
