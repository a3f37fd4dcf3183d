// Command fetch-packages unpacks packages of the image's Debian suite into a
// folder, for a machine whose own suite lacks them; see scripts/setup.sh.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"aibox/image/build"
	"aibox/image/tool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pins := flag.String("pins", "image/pins.json", "file that names the suite")
	into := flag.String("into", "", "folder to make")
	mirror := flag.String("mirror", "", "mirror of Debian (default: the one of this machine's apt, else mmdebstrap's)")
	flag.Parse()
	err := build.FetchPackages(ctx, *pins, *mirror, *into, flag.Args())
	if failed := (*tool.Error)(nil); errors.As(err, &failed) {
		for _, line := range failed.Tail {
			fmt.Fprintln(os.Stderr, " ", line)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fetch-packages:", err)
		os.Exit(1)
	}
}
