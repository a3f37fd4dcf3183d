package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"aibox/internal/fault"
	"aibox/internal/jail/helper"
	"aibox/internal/plain"
	"aibox/internal/proc"
	"aibox/internal/project"
	"aibox/internal/wire"
)

// facts asks what kind of repository it is.
func (r *repository) facts(ctx context.Context) error {
	out, err := r.git(ctx, helper.GitCall{Args: []string{"rev-parse", "--is-shallow-repository", "--show-object-format"}})
	if err != nil {
		return fault.New(fault.Failed, "try git status there", "cannot use %q as a git repository: %w", r.path, gitError(err))
	}
	answers := strings.Fields(out)
	if len(answers) != 2 || answers[1] != "sha1" && answers[1] != "sha256" {
		return fault.New(fault.Failed, "", "cannot use %q as a git repository: git says %q", r.path, plain.LineMax(out, 200))
	}
	r.shallow, r.format = answers[0] == "true", answers[1]
	if r.shallow {
		return fault.New(fault.Failed, "git fetch --unshallow", "%q is a shallow clone, which cannot be bundled with its history", r.path)
	}
	return nil
}

// resolve returns the commit that a revision names.
func (r *repository) resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || len(rev) > maxRev || strings.HasPrefix(rev, "-") || !utf8.ValidString(rev) || strings.ContainsAny(rev, "\x00\n") {
		return "", fault.New(fault.Usage, "name a branch, a tag or a commit", "%q is no name of a revision", plain.LineMax(rev, 100))
	}
	out, err := r.git(ctx, helper.GitCall{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}"}})
	switch exit := (*proc.ExitError)(nil); {
	case errors.As(err, &exit):
		if rev == "HEAD" {
			return "", fault.New(fault.Failed, "git add . && git commit", "%q has no commit yet", r.path)
		}
		return "", fault.New(fault.Usage, "git log --all --oneline lists the commits", "there is no commit %q in %q", rev, r.path)
	case err != nil:
		return "", fault.New(fault.Failed, "", "cannot look up the commit %q: %w", rev, err)
	}
	if len(out) != 40 && len(out) != 64 || strings.Trim(out, "0123456789abcdef") != "" {
		return "", fault.New(fault.Failed, "", "git names %q as the commit of %q", plain.LineMax(out, 100), rev)
	}
	return out, nil
}

// pack writes the start commit with its history into the task's share, as one
// pack with its index, and nothing that the commit does not lead to. Git works
// in an empty repository of aibox's own that borrows the project's objects: it
// follows no configuration of the project and makes no reference there.
func (r *repository) pack(ctx context.Context, t project.Task, start string) error {
	empty, err := makeEmpty(filepath.Join(t.Share(), wire.TaskRepository), start, r.format)
	if err != nil {
		return fault.New(fault.Machine, "", "make the task's repository: %w", err)
	}
	defer empty.Close()
	_, err = r.git(ctx, helper.GitCall{
		Args:  []string{"-c", "core.fsync=none", "pack-objects", "--quiet", "--all", "--delta-base-offset", filepath.Join(empty.Name(), "objects", "pack", "pack")},
		Empty: empty, Objects: r.objects, Write: true,
	})
	if err != nil {
		_ = os.RemoveAll(empty.Name()) // gives its room back
	}
	switch {
	case gitFull(err):
		return fmt.Errorf("cannot pack the start commit: %w", syscall.ENOSPC)
	case err != nil:
		return fault.New(fault.Failed, "git fsck shows whether the repository is whole; partial clones and clones that borrow objects of others cannot be used",
			"cannot pack the start commit: %w", gitError(err))
	}
	return nil
}

// makeEmpty makes a bare repository with one reference by hand: its layout is
// fixed, and no template of the user's gets in.
func makeEmpty(dir, start, format string) (*os.File, error) {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if format == "sha256" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	if err := os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o700); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"HEAD": "ref: " + wire.TaskStartRef + "\n", "config": config, wire.TaskStartRef: start + "\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return os.Open(dir)
}

// gitError is git's last word, without the helper's frame.
func gitError(err error) error {
	if exit := (*proc.ExitError)(nil); errors.As(err, &exit) && exit.LastLine != "" {
		return fmt.Errorf("git says: %s", plain.LineMax(strings.TrimPrefix(exit.LastLine, "fatal: "), 300))
	}
	return err
}
