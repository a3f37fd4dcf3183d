package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aibox/image/cache"
	"aibox/image/tool"
	"aibox/internal/fault"
)

// Files of the source step's result.
const (
	sourceArchive = "linux.tar.xz"
	sourceVersion = "version"
)

func sourceInputs(_ context.Context, j *job, k *cache.Key) error {
	kernel := j.pins.Kernel
	k.Text(j.pins.Debian.Suite, kernel.Package, kernel.Version, kernel.SHA256)
	return nil
}

// fetchSource fetches Debian's package of the kernel's source. Debian's
// mirrors drop old versions, so that a pinned one can be gone; the newest of
// the same series is taken then, which apt checked against the suite's
// signature, unless the build is locked to the pins.
func fetchSource(ctx context.Context, j *job) error {
	repository, err := j.mirror().OpenApt(ctx, filepath.Join(j.scratch, "apt"))
	if err != nil {
		return err
	}
	pin := j.pins.Kernel
	versions, err := repository.Versions(ctx, pin.Package)
	if err != nil {
		return err
	}
	version := pin.Version
	if !slices.Contains(versions, version) {
		if j.Locked {
			return fault.New(fault.Failed, "bump the pins: see docs/image.md", "the mirror no longer has %s %s, only %s",
				pin.Package, version, strings.Join(versions, ", "))
		}
		j.Report.Note(fmt.Sprintf("the mirror no longer has %s %s: taking %s, signed by Debian", pin.Package, version, versions[0]))
		version = versions[0]
	}
	deb, err := repository.Download(ctx, pin.Package, version)
	if err != nil {
		return err
	}
	digest, _, err := cache.DigestOf(deb)
	if err != nil {
		return err
	}
	if version == pin.Version && digest != pin.SHA256 {
		return fault.New(fault.Refused, "image/pins.json names the digest that the build expects",
			"%s has the SHA-256 %s, want %s", filepath.Base(deb), digest, pin.SHA256)
	}
	return j.unpackSource(ctx, deb, version)
}

// unpackSource takes the one archive out of the package.
func (j *job) unpackSource(ctx context.Context, deb, version string) error {
	tree := filepath.Join(j.scratch, "deb")
	if err := j.tools.Run(ctx, tool.Command{Args: []string{"dpkg-deb", "--extract", deb, tree}}); err != nil {
		return err
	}
	archive := filepath.Join(tree, "usr/src", j.pins.Kernel.Package+".tar.xz")
	if err := os.Rename(archive, filepath.Join(j.out, sourceArchive)); err != nil {
		return fmt.Errorf("the package of the kernel's source: %w", err)
	}
	return os.WriteFile(filepath.Join(j.out, sourceVersion), []byte(version), 0o644)
}
