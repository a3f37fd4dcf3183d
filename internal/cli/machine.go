package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"aibox/internal/doctor"
	"aibox/internal/image"
	vmrun "aibox/internal/run"
)

// machine is what the commands ask of the computer they run on, so that tests
// can answer in its place.
type machine struct {
	uid    int
	kernel string // release of the kernel; empty where it does not matter
	home   string
	lookup func(string) (string, bool)
	build  build
	locate func(image.Search) (image.Found, error)
	runVM  func(context.Context, vmrun.Options) (int, error)
	check  func(context.Context, doctor.Host) []doctor.Result
	copyVM func(context.Context, vmrun.Request, io.Writer, io.Writer) (int, vmrun.Report, error)
}

func thisMachine() machine {
	return machine{
		uid:    os.Geteuid(),
		kernel: kernelRelease(),
		home:   os.Getenv("HOME"),
		lookup: os.LookupEnv,
		build:  thisBuild(),
		locate: image.Locate,
		runVM:  vmrun.Run,
		check:  doctor.Check,
		copyVM: vmrun.InCopy,
	}
}

// build is how this program was made.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // empty when it is not known
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Kernel  string `json:"kernel_sha256"` // empty for a build from a checkout
}

func thisBuild() build {
	linked := image.Built()
	b := build{
		Version: cmp.Or(linked.Version, "devel"), Kernel: linked.Digests.Kernel,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Commit = s.Value + b.Commit
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Commit += "+changes"
		}
	}
	return b
}
