package virtiofs

import (
	"context"
	"os"
	"path/filepath"

	"aibox/internal/jail/bwrap"
)

// Probe returns the virtiofsd that Start would use. Its error is that of a start.
func Probe(ctx context.Context) (program string, err error) {
	bundle := DefaultBundle(os.Getenv)
	s, err := find(ctx, bundle)
	if err != nil {
		return "", err
	}
	for _, held := range s.Held {
		if held == (bwrap.Bind{Source: filepath.Join(bundle, "usr"), Dest: "/usr"}) {
			return bundle + bundleProgram, nil
		}
	}
	return s.Program, nil
}
