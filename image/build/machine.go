package build

import (
	"os/exec"
	"runtime"
	"strings"

	"aibox/internal/fault"
)

// checkMachine refuses what cannot work, before minutes are spent.
func checkMachine() error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fault.New(fault.Machine, "build the image on a Linux machine with an x86-64 processor",
			"building the image on %s/%s is not yet possible", runtime.GOOS, runtime.GOARCH)
	}
	var missing []string
	for _, name := range []string{"apt-get", "mmdebstrap", "fakeroot", "mke2fs", "debugfs", "e2fsck", "dpkg-deb",
		"npm", "go", "make", "gcc", "flex", "bison", "bc", "xz", "lz4", "perl", "tar", "patch"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.Machine, "install what the build needs: make setup", "not installed: %s", strings.Join(missing, ", "))
	}
	return nil
}
