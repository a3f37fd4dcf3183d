// Package kit makes what the work on files needs: archives, and the disk and the
// initial file system with which peers' VMs start.
package kit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aibox/test/bench/work"
)

// Kit is where the parts are.
type Kit struct {
	Disk    string // with the guest program and the archives
	Initrd  string // with the guest program and modules for Debian's kernel; absent where that is
	folder  string
	program string
}

// Make makes a kit in dir. program is the guest program, bench what
// scripts/bench-setup.sh fetched.
func Make(dir, program, bench string) (Kit, error) {
	k := Kit{filepath.Join(dir, "kit.ext4"), filepath.Join(dir, "initrd"), dir, program}
	if err := makeArchives(dir); err != nil {
		return k, err
	}
	content := filepath.Join(dir, "kit")
	for _, name := range []string{"os", "dev"} { // mount points
		if err := os.MkdirAll(filepath.Join(content, name), 0o755); err != nil {
			return k, err
		}
	}
	if err := copyFile(program, filepath.Join(content, "guest")); err != nil {
		return k, err
	}
	if err := k.CopyArchives(content); err != nil {
		return k, err
	}
	if out, err := exec.Command("mke2fs", "-q", "-t", "ext4", "-d", content, k.Disk, "128M").CombinedOutput(); err != nil {
		return k, fmt.Errorf("mke2fs: %w: %s", err, out)
	}
	return k, makeInitrd(k.Initrd, program, bench)
}

// CopyArchives copies the archives into a folder.
func (k Kit) CopyArchives(to string) error {
	for _, name := range []string{work.TreeArchive, work.FilesArchive} {
		if err := copyFile(filepath.Join(k.folder, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// CopyProgram copies the guest program into a folder.
func CopyProgram(program, to string) error {
	return copyFile(program, filepath.Join(to, filepath.Base(program)))
}

// Serve makes a folder that a host serves, with the repository that git looks at.
func (k Kit) Serve(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return exec.Command("cp", "-a", filepath.Join(k.folder, work.Tree), folder).Run()
}

// makeArchives makes a repository of small files, packs some of its files and then
// all of it.
func makeArchives(dir string) error {
	tree := filepath.Join(dir, work.Tree)
	if err := makeTree(tree); err != nil {
		return err
	}
	files := []string{"-C", tree, "-cf", filepath.Join(dir, work.FilesArchive)}
	for i := range work.UnpackedFiles / filesPerFolder {
		files = append(files, strconv.Itoa(i))
	}
	if err := tar(files...); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"config", "core.checkStat", "minimal"}, {"config", "core.trustctime", "false"}, {"config", "gc.auto", "0"},
		{"add", "."}, {"-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "--message=all"}, {"gc", "--quiet"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = tree, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return tar("-C", tree, "-cf", filepath.Join(dir, work.TreeArchive), ".")
}

const filesPerFolder = 100

// makeTree makes files whose times are old, so that git need not look into them
// when it asks for their size and time.
func makeTree(tree string) error {
	past := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	for i := range work.TreeFiles {
		name := filepath.Join(tree, strconv.Itoa(i/filesPerFolder), fmt.Sprintf("file%d.go", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(strings.Repeat(fmt.Sprintln("line of", i), 60)), 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(name, past, past); err != nil {
			return err
		}
	}
	return nil
}

func tar(args ...string) error {
	if out, err := exec.Command("tar", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, out)
	}
	return nil
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}
