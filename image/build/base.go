package build

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Files of the base step's result.
const (
	baseDisk    = "base.ext4"
	dirsFile    = "dirs.json"
	packageList = "packages.json"
)

// Files of the recipe, below image/, that the base step adds.
const (
	overlayDir = "rootfs/files"
	promptsDir = "prompts"
)

// Where the base step puts Claude Code and its prompts.
const (
	guestClaude  = "usr/lib/aibox/claude"
	guestPrompts = "usr/share/aibox"
)

func baseInputs(_ context.Context, j *job, k *key) error {
	k.text(fmt.Sprint(j.pins.Epoch))
	return errors.Join(k.tree(j.file(overlayDir)), k.tree(j.file(promptsDir)))
}

// makeBase makes the root disk without aibox's own init. The tree is unpacked
// by fakeroot, which remembers owners and devices that an ordinary user cannot
// make, and mke2fs reads it under the same fakeroot.
func makeBase(ctx context.Context, j *job) error {
	tree := filepath.Join(j.scratch, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	state := filepath.Join(j.scratch, "fakeroot")
	content, err := j.unpack(ctx, []string{"fakeroot", "-s", state, "--",
		"tar", "--extract", "--preserve-permissions", "--same-owner", "--numeric-owner", "--directory", tree, "--file", "-"})
	if err != nil {
		return err
	}
	args := append([]string{"fakeroot", "-i", state, "--"}, mkfsArgs(tree, filepath.Join(j.out, baseDisk), content)...)
	// Without it the times of the file system itself would be those of the build.
	env := []string{fmt.Sprintf("E2FSPROGS_FAKE_TIME=%d", j.pins.Epoch), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", j.pins.Epoch)}
	if err := j.tools.run(ctx, command{env: env, args: args}); err != nil {
		return err
	}
	packages, err := parseStatus(content.status)
	if err != nil {
		return err
	}
	return errors.Join(
		writeJSON(filepath.Join(j.out, dirsFile), content.dirs),
		writeJSON(filepath.Join(j.out, packageList), packages))
}

// unpack runs an unpacking program on the tree's tar stream.
func (j *job) unpack(ctx context.Context, args []string) (*sifted, error) {
	reader, writer := io.Pipe()
	var content *sifted
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		content, failed = j.stream(writer)
		writer.CloseWithError(failed)
	}()
	err := j.tools.run(ctx, command{stdin: reader, args: args})
	// A program that ended early must not leave the writer waiting.
	reader.CloseWithError(io.ErrClosedPipe)
	<-done
	if failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return nil, failed
	}
	if err == nil {
		err = failed
	}
	return content, err
}

// stream writes the whole root file system as tar: Debian's files, then ours.
func (j *job) stream(w io.Writer) (*sifted, error) {
	ours, err := j.ourFiles()
	if err != nil {
		return nil, err
	}
	debian, err := os.Open(filepath.Join(j.results[stepRootfs], rootfsTar))
	if err != nil {
		return nil, err
	}
	defer debian.Close()
	out := tar.NewWriter(w)
	content, err := sift(debian, out, j.pins.Epoch, func(name string) bool { return ours[name] != "" })
	if err != nil {
		return nil, err
	}
	if err := content.addOurs(out, ours, j.pins.Epoch); err != nil {
		return nil, err
	}
	return content, out.Close()
}

// ourFiles maps names in the guest to the files that become them.
func (j *job) ourFiles() (map[string]string, error) {
	ours := map[string]string{
		guestClaude:                     filepath.Join(j.results[stepClaude], claudeFile),
		guestPrompts + "/run-prompt.md": j.file(promptsDir + "/run.md"),
	}
	root := j.file(overlayDir)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		ours[filepath.ToSlash(name)] = path
		return err
	})
	return ours, err
}

// addOurs adds files, the folders that they need and Debian lacks, and the two
// devices that the kernel and init use before init mounts /dev.
func (s *sifted) addOurs(out *tar.Writer, ours map[string]string, epoch int64) error {
	made := map[string]bool{}
	for _, dir := range s.dirs {
		made[dir] = true
	}
	when := time.Unix(epoch, 0)
	header := func(kind byte, name string, mode int64) *tar.Header {
		return &tar.Header{Typeflag: kind, Name: "./" + name, Mode: mode, ModTime: when, Format: tar.FormatGNU}
	}
	for _, name := range sortedKeys(ours) {
		for _, dir := range parents(name) {
			if !made[dir] {
				made[dir] = true
				if err := s.add(out, header(tar.TypeDir, dir, 0o755), dir, nil); err != nil {
					return err
				}
			}
		}
		if err := s.addFile(out, header(tar.TypeReg, name, 0o644), name, ours[name]); err != nil {
			return fmt.Errorf("add %s: %w", name, err)
		}
	}
	for _, device := range []struct {
		name         string
		mode         int64
		major, minor int64
	}{{"dev/console", 0o600, 5, 1}, {"dev/null", 0o666, 1, 3}} {
		h := header(tar.TypeChar, device.name, device.mode)
		h.Devmajor, h.Devminor = device.major, device.minor
		if err := s.add(out, h, device.name, bytes.NewReader(nil)); err != nil {
			return err
		}
	}
	return nil
}

// addFile adds the file at path; whether it may be executed is all that is
// taken from its mode, since a umask may have changed the rest.
func (s *sifted) addFile(out *tar.Writer, h *tar.Header, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	h.Size = info.Size()
	if info.Mode()&0o100 != 0 {
		h.Mode = 0o755
	}
	return s.add(out, h, name, file)
}

// parents lists the folders above name, the outermost first.
func parents(name string) []string {
	var dirs []string
	for i, c := range name {
		if c == '/' {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func readJSON(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.NewDecoder(strings.NewReader(string(text))).Decode(value)
}
