package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aibox/image/cache"
	"aibox/image/rootdisk"
	"aibox/image/tool"
	"aibox/internal/fault"
)

// Files of the disk step's result, which are the image but for the kernel.
const (
	diskFile   = "os.ext4"
	digestFile = "digest.json"
)

// fileDigest identifies a file of the image.
type fileDigest struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// makeDisk puts the init into a copy of the base disk, which takes seconds
// where making the disk takes a minute, then checks the result: as a file
// system, and as a guest.
func makeDisk(ctx context.Context, j *job) error {
	disk := filepath.Join(j.out, diskFile)
	if err := cache.Clone(filepath.Join(j.results[stepBase], baseDisk), disk); err != nil {
		return err
	}
	script := filepath.Join(j.scratch, "debugfs")
	if err := os.WriteFile(script, []byte(rootdisk.InstallScript(j.Test, j.pins.Epoch)), 0o644); err != nil {
		return err
	}
	// debugfs goes on after a failed command and ends well; the audit below
	// finds what is then missing. It reads the programs from its own folder,
	// so that no path needs quoting.
	if err := j.tools.Run(ctx, tool.Command{
		Dir:  j.results[stepInit],
		Env:  []string{fmt.Sprintf("E2FSPROGS_FAKE_TIME=%d", j.pins.Epoch)},
		Args: []string{"debugfs", "-w", "-f", script, disk},
	}); err != nil {
		return err
	}
	if err := j.tools.Run(ctx, tool.Command{Args: []string{"e2fsck", "-f", "-n", disk}}); err != nil {
		return err
	}
	if err := j.auditDisk(ctx, disk); err != nil {
		return err
	}
	digest, size, err := cache.DigestOf(disk)
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(disk, 0o444), writeJSON(filepath.Join(j.out, digestFile), fileDigest{digest, size}))
}

// auditDisk lists every file of the disk and compares it with what the guest
// may hold.
func (j *job) auditDisk(ctx context.Context, disk string) error {
	var dirs []string
	if err := readJSON(filepath.Join(j.results[stepBase], dirsFile), &dirs); err != nil {
		return err
	}
	if j.Test {
		dirs = append(dirs, rootdisk.TestDir)
	}
	script := filepath.Join(j.scratch, "list")
	if err := os.WriteFile(script, []byte(rootdisk.ListScript(dirs)), 0o644); err != nil {
		return err
	}
	listing, err := j.tools.Output(ctx, tool.Command{Args: []string{"debugfs", "-f", script, disk}})
	if err != nil {
		return err
	}
	problems, err := rootdisk.Audit(listing, j.Test)
	if err != nil {
		return fmt.Errorf("list the files of the root disk: %w", err)
	}
	if len(problems) > 0 {
		return fault.New(fault.Failed, "", "the root disk breaks the rules of the guest:\n  %s", strings.Join(problems, "\n  "))
	}
	return nil
}

// publish puts the kernel, the disk and the manifest into the folder out.
func (j *job) publish(out string) error {
	disk := j.results[stepDisk]
	if j.Test {
		disk = j.results[stepTestDisk]
	}
	manifest, err := j.manifest(disk)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	return publish(out, append(text, '\n'), map[string]string{
		kernelFile: filepath.Join(j.results[stepKernel], kernelFile),
		diskFile:   filepath.Join(disk, diskFile),
	})
}
