package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/fault"
)

// Files of the disk step's result, which are the image but for the kernel.
const (
	diskFile   = "os.ext4"
	digestFile = "digest.json"
)

// Where the disk step puts programs.
const (
	guestInit     = "usr/sbin/aibox-init"
	guestTestDir  = "usr/lib/aibox-test"
	guestTestRoot = guestTestDir + "/root"
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
	if err := cloneFile(filepath.Join(j.results[stepBase], baseDisk), disk); err != nil {
		return err
	}
	script := filepath.Join(j.scratch, "debugfs")
	if err := os.WriteFile(script, []byte(diskScript(j.Test, j.pins.Epoch)), 0o644); err != nil {
		return err
	}
	// debugfs goes on after a failed command and ends well; the audit below
	// finds what is then missing. It reads the programs from its own folder,
	// so that no path needs quoting.
	if err := j.tools.run(ctx, command{
		dir:  j.results[stepInit],
		env:  []string{fmt.Sprintf("E2FSPROGS_FAKE_TIME=%d", j.pins.Epoch)},
		args: []string{"debugfs", "-w", "-f", script, disk},
	}); err != nil {
		return err
	}
	if err := j.tools.run(ctx, command{args: []string{"e2fsck", "-f", "-n", disk}}); err != nil {
		return err
	}
	if err := j.auditDisk(ctx, disk); err != nil {
		return err
	}
	digest, size, err := digestOf(disk)
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(disk, 0o444), writeJSON(filepath.Join(j.out, digestFile), fileDigest{digest, size}))
}

// diskScript is what debugfs does: it writes programs from its current folder.
func diskScript(test bool, epoch int64) string {
	var b strings.Builder
	write := func(from, to string, mode int) {
		fmt.Fprintf(&b, "write %s %s\n", from, to)
		for _, field := range []string{fmt.Sprintf("mode 0%o", mode), "uid 0", "gid 0",
			fmt.Sprintf("mtime @%d", epoch), fmt.Sprintf("atime @%d", epoch), fmt.Sprintf("ctime @%d", epoch), fmt.Sprintf("crtime @%d", epoch)} {
			fmt.Fprintf(&b, "set_inode_field %s %s\n", to, field)
		}
	}
	write(initFile, guestInit, 0o100755)
	if test {
		fmt.Fprintf(&b, "mkdir %s\n", guestTestDir)
		write(testRootFile, guestTestRoot, 0o104755)
	}
	return b.String()
}

// auditDisk lists every file of the disk and compares it with what the guest
// may hold.
func (j *job) auditDisk(ctx context.Context, disk string) error {
	var dirs []string
	if err := readJSON(filepath.Join(j.results[stepBase], dirsFile), &dirs); err != nil {
		return err
	}
	if j.Test {
		dirs = append(dirs, guestTestDir)
	}
	script := filepath.Join(j.scratch, "list")
	if err := os.WriteFile(script, []byte(listScript(dirs)), 0o644); err != nil {
		return err
	}
	listing, err := j.tools.output(ctx, command{args: []string{"debugfs", "-f", script, disk}})
	if err != nil {
		return err
	}
	files, err := parseListing(listing)
	if err != nil {
		return fmt.Errorf("list the files of the root disk: %w", err)
	}
	if problems := audit(files, j.Test); len(problems) > 0 {
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
