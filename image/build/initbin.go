package build

import (
	"context"
	"path/filepath"

	"aibox/image/cache"
	"aibox/image/rootdisk"
	"aibox/image/tool"
)

// initInputs builds the init, and the helper of the test image, to learn their
// content: Go's own cache knows what changed, so this costs a fraction of a
// second and misses nothing.
func initInputs(ctx context.Context, j *job, k *cache.Key) error {
	names := []string{rootdisk.InitProgram}
	if j.Init != "" {
		if err := cache.Copy(j.Init, filepath.Join(j.binaries, rootdisk.InitProgram), 0o755); err != nil {
			return err
		}
	} else if err := j.goBuild(ctx, rootdisk.InitProgram, "./cmd/aibox-init"); err != nil {
		return err
	}
	if j.Test {
		names = append(names, rootdisk.TestRootProgram)
		if err := j.goBuild(ctx, rootdisk.TestRootProgram, "./image/cmd/testroot"); err != nil {
			return err
		}
	}
	for _, name := range names {
		k.Text(name)
		if err := k.File(filepath.Join(j.binaries, name)); err != nil {
			return err
		}
	}
	return nil
}

func saveInit(_ context.Context, j *job) error {
	if err := cache.Copy(filepath.Join(j.binaries, rootdisk.InitProgram), filepath.Join(j.out, rootdisk.InitProgram), 0o755); err != nil || !j.Test {
		return err
	}
	return cache.Copy(filepath.Join(j.binaries, rootdisk.TestRootProgram), filepath.Join(j.out, rootdisk.TestRootProgram), 0o755)
}

// goBuild builds a static program for the guest. Nothing of this machine, its
// paths and its git included, gets into it.
func (j *job) goBuild(ctx context.Context, name, pkg string) error {
	return j.tools.Run(ctx, tool.Command{
		Dir: j.Root,
		Env: []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "GOFLAGS="},
		Args: []string{"go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=",
			"-o", filepath.Join(j.binaries, name), pkg},
	})
}
