package task

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/jail/helper"
	"aibox/internal/proc"
	"aibox/internal/project"
)

// repository is the project's repository, found and known to be the project's.
type repository struct {
	helper.Repository
	objects string // its folder of objects, from the project's folder or absolute
	lax     bool
	path    string // of the project, for messages

	shallow bool
	format  string // sha1 or sha256
}

func (r *repository) close() {
	if r.Outside != nil {
		r.Outside.Close()
	}
}

const dotGit = ".git"

// openRepository finds the git folder of the project. A .git file leads
// outside, to where an earlier VM could have pointed it, so what is there must
// say that it belongs to the project.
func openRepository(ctx context.Context, folder project.Folder, lax bool) (*repository, error) {
	r := &repository{Repository: helper.Repository{Project: folder.Dir}, lax: lax, path: folder.Path}
	root, err := os.OpenRoot(folder.Path)
	if err != nil {
		return nil, fault.New(fault.Failed, "", "cannot look at the project: %w", err)
	}
	defer root.Close()
	info, err := root.Lstat(dotGit)
	switch {
	case err == nil && info.IsDir():
		r.Dir, r.objects = dotGit, dotGit+"/objects"
	case err == nil && info.Mode().IsRegular():
		if err := r.follow(ctx, folder); err != nil {
			return nil, err
		}
	case err == nil:
		return nil, fault.New(fault.Failed, "use a worktree (git worktree add), or move the git folder back", "%q is neither a folder nor a file", filepath.Join(folder.Path, dotGit))
	case bare(root):
		r.Dir, r.objects = ".", "objects"
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Failed, "run it in the top folder of a repository, or make one: git init && git add . && git commit", "%q is not a git repository", folder.Path)
	default:
		return nil, fault.New(fault.Failed, "", "cannot look at the project: %w", err)
	}
	if err := r.facts(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// bare tells whether the folder is itself a git folder.
func bare(root *os.Root) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := root.Lstat(name); err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := root.Lstat("HEAD")
	return err == nil && info.Mode().IsRegular()
}

// maxLink bounds a file that holds a path.
const maxLink = 8 << 10

// follow goes where a .git file leads.
func (r *repository) follow(ctx context.Context, folder project.Folder) error {
	text, err := helper.ReadFile(ctx, folder.Dir, dotGit, maxLink, r.lax)
	if err != nil {
		return fault.New(fault.Failed, "", "cannot read the project's .git file: %w", err)
	}
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return fault.New(fault.Failed, "", "the project's .git file names no git folder")
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(folder.Path, to)
	}
	if inside, err := filepath.Rel(folder.Path, filepath.Clean(to)); err == nil && filepath.IsLocal(inside) {
		r.Dir, r.objects = inside, filepath.Join(inside, "objects")
		return nil
	}
	return r.outside(ctx, folder, to)
}

// outside opens a git folder that is not in the project, if it is one of a
// worktree or a submodule that names the project in turn.
func (r *repository) outside(ctx context.Context, folder project.Folder, to string) error {
	refused := func(why string) error {
		return fault.New(fault.Failed, "use a clone or a worktree made by git worktree add", "the project's .git file leads to %q, %s", to, why)
	}
	to, err := filepath.EvalSymlinks(to)
	if err != nil {
		return refused("which cannot be opened")
	}
	dir, err := os.Open(to)
	if err != nil {
		return refused("which cannot be opened")
	}
	defer dir.Close()
	if back, err := helper.ReadFile(ctx, dir, "gitdir", maxLink, r.lax); err == nil {
		return r.worktree(ctx, folder, dir, to, strings.TrimRight(string(back), "\r\n"), refused)
	}
	config, err := helper.ReadFile(ctx, dir, "config", maxRecord, r.lax)
	if err != nil || !sameFolder(absolute(to, worktreeOf(string(config))), folder.Dir) {
		return refused("which does not say that it belongs to this folder")
	}
	r.Dir, r.objects = to, filepath.Join(to, "objects")
	r.Outside, err = os.Open(to)
	return err
}

func (r *repository) worktree(ctx context.Context, folder project.Folder, dir *os.File, to, back string, refused func(string) error) error {
	back = absolute(to, back)
	if filepath.Base(back) != dotGit || !sameFolder(filepath.Dir(back), folder.Dir) {
		return refused("which belongs to another worktree")
	}
	common, err := helper.ReadFile(ctx, dir, "commondir", maxLink, r.lax)
	if err != nil {
		return refused("which is no worktree's")
	}
	top, err := filepath.EvalSymlinks(absolute(to, strings.TrimRight(string(common), "\r\n")))
	if err != nil || filepath.Dir(to) != filepath.Join(top, "worktrees") {
		return refused("which is no worktree's")
	}
	r.Dir, r.objects = to, filepath.Join(top, "objects")
	r.Outside, err = os.Open(top)
	return err
}

func absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func sameFolder(path string, open *os.File) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	info, err := open.Stat()
	return err == nil && os.SameFile(there, info)
}

// worktreeOf returns core.worktree in a git folder's configuration, as git
// itself writes it for a submodule.
func worktreeOf(config string) string {
	core := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = line == "[core]"
			continue
		}
		if name, value, ok := strings.Cut(line, "="); core && ok && strings.TrimSpace(name) == "worktree" {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// git runs git in the repository.
func (r *repository) git(ctx context.Context, c helper.GitCall) (string, error) {
	path, err := proc.Look("git")
	if err != nil {
		return "", fault.New(fault.Machine, "apt install git", "git is not installed")
	}
	c.Git, c.Lax = path, r.lax
	out, err := helper.Git(ctx, r.Repository, c)
	return strings.TrimSpace(string(out)), err
}
