package build

import (
	"context"
	"path/filepath"
)

// Programs of the checkout that go onto the root disk.
const (
	initFile     = "aibox-init"
	testRootFile = "root"
)

// initInputs builds the init, and the helper of the test image, to learn their
// content: Go's own cache knows what changed, so this costs a fraction of a
// second and misses nothing.
func initInputs(ctx context.Context, j *job, k *key) error {
	names := []string{initFile}
	if j.Init != "" {
		if err := copyFile(j.Init, filepath.Join(j.binaries, initFile), 0o755); err != nil {
			return err
		}
	} else if err := j.goBuild(ctx, initFile, "./cmd/aibox-init"); err != nil {
		return err
	}
	if j.Test {
		names = append(names, testRootFile)
		if err := j.goBuild(ctx, testRootFile, "./image/cmd/testroot"); err != nil {
			return err
		}
	}
	for _, name := range names {
		k.text(name)
		if err := k.file(filepath.Join(j.binaries, name)); err != nil {
			return err
		}
	}
	return nil
}

func saveInit(_ context.Context, j *job) error {
	if err := copyFile(filepath.Join(j.binaries, initFile), filepath.Join(j.out, initFile), 0o755); err != nil || !j.Test {
		return err
	}
	return copyFile(filepath.Join(j.binaries, testRootFile), filepath.Join(j.out, testRootFile), 0o755)
}

// goBuild builds a static program for the guest. Nothing of this machine, its
// paths and its git included, gets into it.
func (j *job) goBuild(ctx context.Context, name, pkg string) error {
	return j.tools.run(ctx, command{
		dir: j.Root,
		env: []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "GOFLAGS="},
		args: []string{"go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=",
			"-o", filepath.Join(j.binaries, name), pkg},
	})
}
