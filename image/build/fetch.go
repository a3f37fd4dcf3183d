package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"aibox/image/cache"
	"aibox/image/debian"
	"aibox/image/tool"
	"aibox/internal/fault"
)

// FetchPackages unpacks packages of the suite that the pins name into the
// folder into, which is made. Nothing is installed.
func FetchPackages(ctx context.Context, pinsPath, mirror, into string, packages []string) (err error) {
	if into == "" || len(packages) == 0 {
		return fault.New(fault.Usage, "", "usage: fetch-packages --into DIR PACKAGE…")
	}
	pins, err := ReadPins(pinsPath)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "aibox-fetch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.RemoveAll(scratch)) }()
	log, err := os.Create(filepath.Join(scratch, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	from := debian.Mirror{URI: mirror, Suite: pins.Debian.Suite, Tools: &tool.Runner{Log: log, OnLine: func() {}}}
	return from.Fetch(ctx, scratch, into, packages)
}
