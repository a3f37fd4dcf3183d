// Command build-image builds the guest's image: see docs/image.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"aibox/image/build"
	"aibox/image/progress"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	options, bump, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2)
	}
	options.Report = progress.New(os.Stderr)
	path := ""
	if bump {
		err = build.Bump(ctx, options)
	} else {
		path, err = build.Run(ctx, options)
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "image: interrupted; what was finished is kept")
		os.Exit(130)
	case err != nil:
		explain(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(path)
}
