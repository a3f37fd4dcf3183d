package helper

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"aibox/internal/jail"
)

const roleRepo = "repository"

// Limits of git's work in a project's repository.
const (
	maxPack    = 64 << 30 // bytes
	repoCPU    = 3600     // seconds
	repoMemory = 4 << 30  // bytes
	repoOpen   = 1024     // packs
	repoTime   = 10 * time.Minute
)

// Repository is a project's repository for Git. A virtual machine may have
// written all of it.
type Repository struct {
	Project *os.File // the folder in which git runs
	// Dir is the git folder, absolute or from the project.
	Dir string
	// Outside is the git folder that lies outside of the project and that the
	// project is known to belong to, as of a worktree; nil for none.
	Outside *os.File
}

// GitCall is one command of git.
type GitCall struct {
	Git  string   // absolute path of the program
	Args []string // without "git"
	// Empty is a folder of aibox's own with a repository in it that stands for
	// the project's, of which only the objects at Objects are used; nil for none.
	Empty   *os.File
	Objects string
	Write   bool // git may write packs of Empty
	Lax     bool
}

// repoInput is the input of roleRepo.
type repoInput struct {
	Git     string
	Args    []string
	Dir     string
	Objects string
	More    int
	Empty   bool
	Write   bool
}

// Git runs git in a helper that may read the project, its git folder, and
// Empty, and nothing else of the user's; that can write nothing but
// packs of Empty where the call says so; and that reaches no network. It reads no
// configuration of the user's or the system's. A repository that needs more, such
// as one that borrows the objects of another, fails with git's own words.
func Git(ctx context.Context, r Repository, c GitCall) ([]byte, error) {
	in := repoInput{Git: c.Git, Args: c.Args, Dir: r.Dir, Objects: c.Objects, Empty: c.Empty != nil, Write: c.Write}
	call := Call{Role: roleRepo, Folder: r.Project, Lax: c.Lax, Time: repoTime}
	for _, f := range []*os.File{c.Empty, r.Outside} {
		if f != nil {
			call.More = append(call.More, f)
		}
	}
	in.More = len(call.More)
	call.Input = in
	return Run(ctx, call)
}

func prepareRepo(folder *os.File, input []byte) (jail.Policy, Work, error) {
	var in repoInput
	if err := json.Unmarshal(input, &in); err != nil {
		return jail.Policy{}, nil, err
	}
	if err := folder.Chdir(); err != nil {
		return jail.Policy{}, nil, fmt.Errorf("enter folder: %w", err)
	}
	p := jail.Policy{
		ReadDirs: []string{FolderPath}, ReadFiles: []string{"/etc/ld.so.cache"},
		WriteFiles: []string{os.DevNull},
		Exec:       gitPrograms(in.Git),
	}
	for i := range in.More {
		p.ReadDirs = append(p.ReadDirs, MorePath(i))
	}
	if in.Empty && in.Write {
		p.ReadFiles = append(p.ReadFiles, "/dev/urandom") // for names of new files
		p.WriteDirs = []string{filepath.Join(MorePath(0), packs)}
	}
	env, err := in.env()
	if err != nil {
		return jail.Policy{}, nil, err
	}
	return p, func(io.Writer) error { return become(in.Git, append([]string{"git"}, in.Args...), env) }, nil
}

// gitPrograms are where git and the libraries it needs may be.
func gitPrograms(git string) []string {
	return []string{git, "/usr", "/bin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"}
}

// env names the git folder, so that git looks for none, and keeps git from
// programs and from asking another repository for objects.
func (in repoInput) env() ([]string, error) {
	env := []string{
		"HOME=/nonexistent", "PATH=/usr/bin:/bin", "LANG=C", "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_PROTOCOL_FROM_USER=0",
		"GIT_ALLOW_PROTOCOL=", "GIT_ADVICE=0",
	}
	if !in.Empty {
		return append(env, "GIT_DIR="+in.Dir), nil
	}
	// Its path leads to it as long as the helper can read it at all.
	empty, err := os.Readlink(MorePath(0))
	if err != nil {
		return nil, fmt.Errorf("name folder: %w", err)
	}
	return append(env, "GIT_DIR="+empty, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoteAlternate(in.Objects)), nil
}

// packs is where a repository has its packs.
const packs = "objects/pack"

// quoteAlternate writes a path so that git takes it for one, whatever is in it.
func quoteAlternate(path string) string {
	quoted := []byte{'"'}
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			quoted = append(quoted, '\\', c)
		case c < ' ' || c >= 0x7f:
			quoted = append(quoted, fmt.Sprintf(`\%03o`, c)...)
		default:
			quoted = append(quoted, c)
		}
	}
	return string(append(quoted, '"'))
}
