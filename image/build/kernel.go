package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"aibox/image/cache"
	"aibox/image/kconfig"
	"aibox/image/tool"
	"aibox/internal/fault"
)

// Files of the kernel step's result.
const (
	kernelFile    = "vmlinuz"
	kernelConfig  = "config"
	kernelVersion = "version"
)

// kernelLines is about how many lines a compilation prints; only the progress
// bar depends on it.
const kernelLines = 1450

// Files of the kernel's policy, below image/.
const (
	wantedFile    = "kernel/amd64.config"
	forbiddenFile = "kernel/forbidden.config"
	patchFiles    = "kernel/patches/*.patch"
)

func kernelInputs(_ context.Context, j *job, k *cache.Key) error {
	k.Text(fmt.Sprint(j.pins.Epoch))
	err := errors.Join(k.File(j.file(wantedFile)), k.File(j.file(forbiddenFile)))
	patches, missing := j.patches()
	err = errors.Join(err, missing)
	for _, patch := range patches {
		err = errors.Join(err, k.File(patch))
	}
	return err
}

// makeKernel compiles the kernel and refuses one whose final configuration
// breaks the policy: before the compilation, which takes minutes.
func makeKernel(ctx context.Context, j *job) error {
	policy, err := readPolicy(j.file(wantedFile), j.file(forbiddenFile))
	if err != nil {
		return err
	}
	archive := filepath.Join(j.results[stepSource], sourceArchive)
	if err := j.tools.Run(ctx, tool.Command{Args: []string{
		"tar", "--extract", "--file", archive, "--directory", j.scratch, "--strip-components=1"}}); err != nil {
		return err
	}
	if err := j.patch(ctx); err != nil {
		return err
	}
	if err := j.configure(ctx, policy); err != nil {
		return err
	}
	if err := j.make(ctx, fmt.Sprintf("--jobs=%d", runtime.NumCPU()), "bzImage"); err != nil {
		return err
	}
	return errors.Join(
		os.Rename(filepath.Join(j.scratch, "arch/x86/boot/bzImage"), filepath.Join(j.out, kernelFile)),
		os.Chmod(filepath.Join(j.out, kernelFile), 0o444),
		os.Rename(filepath.Join(j.scratch, ".config"), filepath.Join(j.out, kernelConfig)),
		cache.Copy(filepath.Join(j.results[stepSource], sourceVersion), filepath.Join(j.out, kernelVersion), 0o644))
}

// patches returns the paths of our changes to the kernel, in the order of their names.
func (j *job) patches() ([]string, error) {
	return filepath.Glob(j.file(patchFiles))
}

// patch puts our changes into the kernel's source.
func (j *job) patch(ctx context.Context) error {
	patches, err := j.patches()
	if err != nil {
		return err
	}
	for _, patch := range patches {
		if err := j.tools.Run(ctx, tool.Command{Args: []string{"patch", "--strip=1", "--fuzz=0", "--forward", "--batch",
			"--directory", j.scratch, "--input", patch}}); err != nil {
			return fmt.Errorf("the kernel's source does not take %s: %w", filepath.Base(patch), err)
		}
	}
	return nil
}

// configure puts the policy behind the kernel's tiny configuration, lets the
// kernel's tools settle the rest, and checks what they made of it.
func (j *job) configure(ctx context.Context, policy kconfig.Policy) error {
	if err := j.make(ctx, "tinyconfig"); err != nil {
		return err
	}
	path := filepath.Join(j.scratch, ".config")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, policy.Fragment())
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := j.make(ctx, "olddefconfig"); err != nil {
		return err
	}
	final, err := readFile(path, kconfig.ReadConfig)
	if err != nil {
		return err
	}
	if problems := policy.Check(final); len(problems) > 0 {
		return fault.New(fault.Failed, "image/kernel/ holds what is wanted and what is forbidden",
			"the kernel's configuration breaks the policy in %d options:\n  %s", len(problems), strings.Join(problems, "\n  "))
	}
	return nil
}

// make runs the kernel's make with all that would name this machine or moment
// fixed.
func (j *job) make(ctx context.Context, target ...string) error {
	when := time.Unix(j.pins.Epoch, 0).UTC().Format(time.UnixDate)
	return j.tools.Run(ctx, tool.Command{Dir: j.scratch, Args: append([]string{"make",
		"ARCH=x86_64", "KBUILD_BUILD_TIMESTAMP=" + when, "KBUILD_BUILD_USER=aibox", "KBUILD_BUILD_HOST=aibox",
		"KBUILD_BUILD_VERSION=1"}, target...)})
}

// readPolicy reads what is wanted and what is forbidden.
func readPolicy(wantedPath, forbiddenPath string) (kconfig.Policy, error) {
	wanted, err := readFile(wantedPath, kconfig.ReadConfig)
	if err != nil {
		return kconfig.Policy{}, err
	}
	forbidden, err := readFile(forbiddenPath, kconfig.ReadNames)
	if err != nil {
		return kconfig.Policy{}, err
	}
	return kconfig.NewPolicy(wanted, forbidden)
}

func readFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	file, err := os.Open(path)
	if err != nil {
		return *new(T), err
	}
	defer file.Close()
	value, err := read(file)
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}
