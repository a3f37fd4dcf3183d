package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aibox/image/build"
	"aibox/image/tool"
	"aibox/internal/fault"
)

// parse reads the command line. It prints its own errors and the help to w.
func parse(args []string, w io.Writer) (o build.Options, bump bool, err error) {
	flags := flag.NewFlagSet("build-image", flag.ContinueOnError)
	flags.SetOutput(w)
	flags.StringVar(&o.Out, "out", "", "folder of the image (default ~/.aibox/image/dev; with --test the folder test-image beside the cache)")
	flags.StringVar(&o.Cache, "cache", "", "folder of finished steps (default ${XDG_CACHE_HOME:-~/.cache}/aibox/build)")
	flags.StringVar(&o.Root, "root", ".", "the checkout")
	flags.BoolVar(&o.Test, "test", false, "build the image for tests, which has a program that gives root")
	flags.StringVar(&o.Init, "init", "", "use this program as init instead of building cmd/aibox-init")
	flags.StringVar(&o.Mirror, "mirror", "", "mirror of Debian (default: the one of this machine's apt, else mmdebstrap's)")
	flags.BoolVar(&o.Locked, "locked", false, "fail when the mirror no longer has the pinned kernel source")
	flags.BoolVar(&bump, "bump", false, "write the newest versions into image/pins.json and build nothing")
	if err := flags.Parse(args); err != nil {
		return o, bump, err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintln(w, "build-image:", err)
		return o, bump, err
	}
	if err := defaults(&o); err != nil {
		fmt.Fprintln(w, "build-image:", err)
		return o, bump, err
	}
	return o, bump, nil
}

// defaults fills in the folders, and lets mke2fs and debugfs be found, which
// Debian keeps where an ordinary user's PATH does not look.
func defaults(o *build.Options) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if o.Cache == "" {
		o.Cache = filepath.Join(caches, "aibox", "build")
	}
	if o.Out == "" {
		o.Out = filepath.Join(home, ".aibox", "image", "dev")
		if o.Test {
			o.Out = filepath.Join(caches, "aibox", "test-image")
		}
	}
	if o.Root, err = filepath.Abs(o.Root); err != nil {
		return err
	}
	if o.Cache, err = filepath.Abs(o.Cache); err != nil {
		return err
	}
	return os.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+"/usr/sbin"+string(filepath.ListSeparator)+"/sbin")
}

// explain prints err for the user: the line, what a failed program said last,
// where all of it is, and the hint.
func explain(w io.Writer, err error) {
	fmt.Fprintf(w, "image: %v\n", err)
	if failed := (*tool.Error)(nil); errors.As(err, &failed) {
		for _, line := range failed.Tail {
			fmt.Fprintf(w, "  %s\n", line)
		}
		if failed.Log != "" {
			fmt.Fprintf(w, "full log: %s\n", failed.Log)
		}
	}
	if hint := fault.HintOf(err); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}
