package task

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/fault"
	"aibox/internal/project"
)

// place is a user's home with a project in it.
type place struct {
	t             *testing.T
	home, project string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("found no git, want one")
	}
	home := t.TempDir()
	p := &place{t: t, home: home, project: filepath.Join(home, "src", "my project")}
	if err := os.MkdirAll(p.project, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// do runs a shell command line in a folder below the home.
func (p *place) do(dir, line string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "bash", "-euc", line)
	cmd.Dir = filepath.Join(p.home, dir)
	cmd.Env = []string{"HOME=" + p.home, "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@t"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *place) folder() project.Folder {
	p.t.Helper()
	root, err := project.NewPlace(p.home)
	if err != nil {
		p.t.Fatal(err)
	}
	f, err := root.OpenProject(p.project)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { f.Dir.Close() })
	return f
}

// packed makes the pack of a revision and returns the commits in it.
func (p *place) packed(rev string) (string, error) {
	p.t.Helper()
	r, err := openRepository(p.t.Context(), p.folder(), false)
	if err != nil {
		return "", err
	}
	defer r.close()
	start, err := r.resolve(p.t.Context(), rev)
	if err != nil {
		return "", err
	}
	t := project.Task{ID: "t", Dir: filepath.Join(p.home, "task")}
	if err := os.MkdirAll(t.Share(), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := r.pack(p.t.Context(), t, start); err != nil {
		return "", err
	}
	if got := p.do("task/share/start.git", "git fsck --full --strict && find objects -type f | sed 's/.*[.]//' | sort | xargs"); got != "idx pack" {
		p.t.Errorf("the share's repository holds %s", got)
	}
	if got := p.do("task/share/start.git", "git cat-file --batch-all-objects --batch-check | cut -d' ' -f1 | sort"); got != p.do("task/share/start.git", "git rev-list --objects start | cut -d' ' -f1 | sort") {
		p.t.Error("the share's repository holds more than the commit with its history")
	}
	return p.do("task/share/start.git", "git log --format=%s start | xargs"), nil
}

const oneTwo = "echo 1 > a; git add a; git commit -qm one; echo 2 > a; git commit -qam two"

func TestRepositoriesThatWork(t *testing.T) {
	for name, c := range map[string]struct{ make, rev, want string }{
		"plain":              {`git init -q "my project"; cd "my project"; ` + oneTwo, "HEAD", "two one"},
		"older commit":       {`git init -q "my project"; cd "my project"; ` + oneTwo, "HEAD~1", "one"},
		"tag of a commit":    {`git init -q "my project"; cd "my project"; ` + oneTwo + "; git tag -a -m v v1", "v1", "two one"},
		"detached head":      {`git init -q "my project"; cd "my project"; ` + oneTwo + "; git checkout -q --detach HEAD~1", "HEAD", "one"},
		"packed":             {`git init -q "my project"; cd "my project"; ` + oneTwo + "; git gc -q; git pack-refs --all", "HEAD", "two one"},
		"sha256":             {`git init -q --object-format=sha256 "my project"; cd "my project"; ` + oneTwo, "HEAD", "two one"},
		"bare":               {`git init -q x; cd x; ` + oneTwo + `; rmdir "../my project"; git clone -q --bare . "../my project"`, "HEAD", "two one"},
		"worktree":           {`git init -q main; cd main; ` + oneTwo + `; rmdir "../my project"; git worktree add -q "../my project" HEAD~1`, "HEAD", "one"},
		"submodule":          {`git init -q sub; (cd sub; ` + oneTwo + `); mkdir top; rmdir "my project"; cd top; git init -q; git submodule --quiet add "$PWD/../sub" sub; mv ../top "../my project"`, "HEAD", ""},
		"moved git folder":   {`git init -q "my project"; cd "my project"; ` + oneTwo + `; mv .git gitdir; echo "gitdir: gitdir" > .git`, "HEAD", "two one"},
		"hostile config":     {`git init -q "my project"; cd "my project"; ` + oneTwo + `; git config core.fsmonitor "touch $HOME/ran"; git config core.hooksPath "$HOME"; git config core.pager "touch $HOME/ran"; git config alias.bundle "!touch $HOME/ran"`, "HEAD", "two one"},
		"replaced commit":    {`git init -q "my project"; cd "my project"; ` + oneTwo + `; git replace HEAD HEAD~1`, "HEAD", "two one"},
		"odd name of a path": {`git init -q "my project"; cd "my project"; ` + oneTwo, "main@{0}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.do("src", "git config --global init.defaultBranch main; "+c.make)
			if name == "submodule" {
				p.do("src/my project", oneTwo)
				p.project += "/sub"
				c.want = "two one"
			}
			if name == "odd name of a path" {
				c.want = "two one"
			}
			before := p.do("src/my project", "find . -type f -exec sha256sum {} + | sort")
			got, err := p.packed(c.rev)
			if err != nil || got != c.want {
				t.Errorf("commits %q, %v, want %q", got, err, c.want)
			}
			if after := p.do("src/my project", "find . -type f -exec sha256sum {} + | sort"); after != before {
				t.Error("the project changed")
			}
			if _, err := os.Stat(filepath.Join(p.home, "ran")); err == nil {
				t.Error("a program of the project's configuration ran")
			}
		})
	}
}

func TestRepositoriesThatAreRefused(t *testing.T) {
	const secret = `git init -q secret; (cd secret; ` + oneTwo + `); git init -q "my project"; cd "my project"; ` + oneTwo + "; "
	for name, c := range map[string]struct{ make, rev, want string }{
		"no repository":      {"true", "HEAD", "is not a git repository"},
		"empty":              {`git init -q "my project"`, "HEAD", "has no commit yet"},
		"shallow":            {`git init -q x; (cd x; ` + oneTwo + `); git clone -q --depth 1 "file://$PWD/x" "my project"`, "HEAD", "is a shallow clone"},
		"unknown revision":   {`git init -q "my project"; cd "my project"; ` + oneTwo, "nope", `no commit "nope"`},
		"a tree":             {`git init -q "my project"; cd "my project"; ` + oneTwo, "HEAD^{tree}", "no commit"},
		"an option":          {`git init -q "my project"; cd "my project"; ` + oneTwo, "--all", "no name of a revision"},
		"link out":           {secret + `rm -rf .git; ln -s ../secret/.git .git`, "HEAD", "neither a folder nor a file"},
		".git file out":      {secret + `rm -rf .git; echo "gitdir: $PWD/../secret/.git" > .git`, "HEAD", "does not say that it belongs"},
		"another's worktree": {secret + `git -C ../secret worktree add -q ../wt; rm -rf .git; cp ../wt/.git .git`, "HEAD", "belongs to another worktree"},
		"borrowed objects":   {secret + `head=$(git -C ../secret rev-parse HEAD); rm -rf .git/objects/??; mkdir -p .git/objects/info; echo "$PWD/../secret/.git/objects" > .git/objects/info/alternates; echo $head > .git/refs/heads/main`, "HEAD", ""},
		"objects linked out": {secret + `git -C ../secret rev-parse HEAD > .git/refs/heads/main; rm -rf .git/objects; ln -s ../../secret/.git/objects .git/objects`, "HEAD", ""},
		"commondir out":      {secret + `echo "$PWD/../secret/.git" > .git/commondir`, "HEAD", ""},
		"FIFO":               {`cd "my project"; mkfifo .git`, "HEAD", "neither a folder nor a file"},
		"broken objects":     {`git init -q "my project"; cd "my project"; ` + oneTwo + `; rm -f .git/objects/$(git rev-parse HEAD~1:a | sed 's,..,&/,')`, "HEAD", "cannot pack the start commit"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.do("src", "git config --global init.defaultBranch main; "+c.make)
			got, err := p.packed(c.rev)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("commits %q, error %v, want %q", got, err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") || fault.HintOf(err) == "" && c.want != "" {
				t.Errorf("error %q, hint %q", err, fault.HintOf(err))
			}
			if k := fault.KindOf(err); k != fault.Failed && k != fault.Usage {
				t.Errorf("kind %d, want one of exit code 1 or 2", k)
			}
		})
	}
}

func TestWorktreeOf(t *testing.T) {
	for config, want := range map[string]string{
		"[core]\n\tbare = false\n\tworktree = ../../../sub\n": "../../../sub",
		"[remote]\n\tworktree = /x\n":                         "",
		"[core]\n[other]\nworktree = /x\n":                    "",
		"":                                                    "",
	} {
		if got := worktreeOf(config); got != want {
			t.Errorf("worktreeOf(%q) = %q, want %q", config, got, want)
		}
	}
}
