package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aibox/image/cache"
	"aibox/image/debian"
	"aibox/image/rootdisk"
	"aibox/image/tool"
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

func baseInputs(_ context.Context, j *job, k *cache.Key) error {
	k.Text(fmt.Sprint(j.pins.Epoch))
	return errors.Join(k.Tree(j.file(overlayDir)), k.Tree(j.file(promptsDir)))
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
		"tar", "--extract", "--preserve-permissions", "--same-owner", "--numeric-owner", "--delay-directory-restore", "--directory", tree, "--file", "-"})
	if err != nil {
		return err
	}
	args := append([]string{"fakeroot", "-i", state, "--"}, rootdisk.MkfsArgs(tree, filepath.Join(j.out, baseDisk), content)...)
	// Without it the times of the file system itself would be those of the build.
	env := []string{fmt.Sprintf("E2FSPROGS_FAKE_TIME=%d", j.pins.Epoch), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", j.pins.Epoch)}
	if err := j.tools.Run(ctx, tool.Command{Env: env, Args: args}); err != nil {
		return err
	}
	packages, err := debian.ParseStatus(content.Status)
	if err != nil {
		return err
	}
	return errors.Join(
		writeJSON(filepath.Join(j.out, dirsFile), content.Dirs),
		writeJSON(filepath.Join(j.out, packageList), packages))
}

// unpack runs an unpacking program on the tree's tar stream.
func (j *job) unpack(ctx context.Context, args []string) (*rootdisk.Content, error) {
	reader, writer := io.Pipe()
	var content *rootdisk.Content
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		content, failed = j.stream(writer)
		writer.CloseWithError(failed)
	}()
	err := j.tools.Run(ctx, tool.Command{Stdin: reader, Args: args})
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
func (j *job) stream(w io.Writer) (*rootdisk.Content, error) {
	ours, err := j.ourFiles()
	if err != nil {
		return nil, err
	}
	debian, err := os.Open(filepath.Join(j.results[stepRootfs], rootfsTar))
	if err != nil {
		return nil, err
	}
	defer debian.Close()
	return rootdisk.Write(w, debian, ours, j.pins.Epoch)
}

// ourFiles maps names in the guest to the files that become them.
func (j *job) ourFiles() (map[string]string, error) {
	ours := map[string]string{
		rootdisk.Claude:     filepath.Join(j.results[stepClaude], claudeFile),
		rootdisk.RunPrompt:  j.file(promptsDir + "/run.md"),
		rootdisk.TaskPrompt: j.file(promptsDir + "/task.md"),
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
