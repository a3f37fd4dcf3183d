package task

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/wire"
)

// scene is a project as a task's VM has it, on this machine.
type scene struct {
	t                      *testing.T
	source, share, project string
	settings               wire.TaskSettings
}

func newScene(t *testing.T, format string) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("found no git, want one")
	}
	base := t.TempDir()
	s := &scene{t: t, source: filepath.Join(base, "source"), share: filepath.Join(base, "share"), project: filepath.Join(base, "project")}
	for _, dir := range []string{s.source, s.share, s.project} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.in(s.source, "git init -q -b main --object-format="+format+" . && echo 1 > a && git add a && git commit -qm one && echo 2 > a && git commit -qam two")
	s.settings = wire.TaskSettings{ID: "x", Start: s.in(s.source, "git rev-parse HEAD"), Format: format, TimeoutSeconds: 60}
	s.in(s.source, "git clone -q --bare . "+s.share+"/"+wire.TaskRepository+" && git -C "+s.share+"/"+wire.TaskRepository+" repack -adq")
	s.must(cloneScript(s.settings))
	return s
}

func (s *scene) env() []string {
	return []string{"HOME=/nonexistent", "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@t"}
}

func (s *scene) in(dir, line string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", line)
	cmd.Dir, cmd.Env = dir, s.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

// must runs a script of the VM with this machine's paths.
func (s *scene) must(script string) string {
	s.t.Helper()
	script = strings.ReplaceAll(script, wire.GuestProject, s.project)
	script = strings.ReplaceAll(script, wire.GuestTask, s.share)
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", "exec 3>&2\n"+script)
	cmd.Env = append(append(s.env(), gitEnv()...), committer()...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%v\n%s\n%s", err, stderr.String(), script)
	}
	return string(out)
}

// commit runs the script and returns the branch's tip as git sees it.
func (s *scene) commit(wantLeftover, wantSquashed bool) string {
	s.t.Helper()
	tip, leftover, squashed, err := parseCommit(s.must(commitScript(s.settings)))
	if err != nil {
		s.t.Fatal(err)
	}
	if leftover != wantLeftover || squashed != wantSquashed {
		s.t.Errorf("leftover %v, squashed %v, want %v, %v", leftover, squashed, wantLeftover, wantSquashed)
	}
	if got := s.in(s.project, "git rev-parse "+wire.TaskRef); got != tip {
		s.t.Errorf("the branch is at %s, want %s", got, tip)
	}
	return tip
}

func TestCloneIsTheStartCommit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			s := newScene(t, format)
			if got := s.in(s.project, "git status --short --branch && git remote && git for-each-ref --format='%(refname)' && git log --format=%s"); got != "## aibox/task\nrefs/heads/aibox/task\ntwo\none" {
				t.Errorf("the clone is %q", got)
			}
			if tip := s.commit(false, false); tip != s.settings.Start {
				t.Errorf("tip %s, want the start %s", tip, s.settings.Start)
			}
			s.in(s.project, "echo 3 > b && git add b && git commit -qm three && echo 4 > c")
			tip := s.commit(true, false)
			bundle := s.must(bundleScript(s.settings))
			header, _, _ := strings.Cut(bundle, "\n\n")
			if lines := strings.Split(header, "\n"); !strings.HasSuffix(lines[len(lines)-1], tip+" "+wire.TaskRef) || !strings.HasPrefix(lines[len(lines)-2], "-"+s.settings.Start) {
				t.Errorf("header %q", header)
			}
		})
	}
}

func TestLeftovers(t *testing.T) {
	for name, c := range map[string]struct {
		do                 string
		leftover, squashed bool
		files              string
	}{
		"ignored files stay":   {"echo '*.o' > .gitignore; touch x.o", true, false, ".gitignore a"},
		"locks of a dead git":  {"touch .git/index.lock; echo 3 > a", true, false, "a"},
		"a merge in conflict":  {"git checkout -qb x; echo x > a; git commit -qam x; git checkout -q aibox/task; echo y > a; git commit -qam y; git merge x || true", true, false, "a"},
		"hooks do not run":     {"echo 'exit 1' > .git/hooks/pre-commit; chmod +x .git/hooks/*; git config core.fsmonitor /bin/false; git config core.hooksPath .git/hooks; echo 3 > b", true, false, "a b"},
		"signing is not asked": {"git config commit.gpgsign true; git config gpg.program /bin/false; echo 3 > b", true, false, "a b"},
		"detached":             {"git checkout -q --detach; echo 3 > b; git add b; git commit -qm b", false, false, "a b"},
		"another branch":       {"git checkout -qb other; echo 3 > b; git add b; git commit -qm b", false, false, "a b"},
		"history rewritten":    {"echo 3 > b; git add b; git commit -q --amend -m new", false, true, "a b"},
		"older commit merged":  {"git checkout -qb old HEAD~1; echo 3 > b; git add b; git commit -qm b; git checkout -q aibox/task; git merge -q -m m old", false, true, "a b"},
		"all commits gone":     {"git checkout -q --orphan new; git rm -rqf .; echo 3 > b; git add b; git commit -qm b", false, true, "b"},
		"no commit at all":     {"git checkout -q --orphan new; git rm -rqf .", true, false, ""},
		"replaced objects":     {"git replace $(git rev-parse HEAD) $(git rev-parse HEAD~1); echo 3 > b", true, false, "a b"},
		"nested repository":    {"git init -q n; echo 3 > b", true, false, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "sha1")
			s.in(s.project, c.do)
			tip := s.commit(c.leftover, c.squashed)
			if got := strings.ReplaceAll(s.in(s.project, "git ls-tree --name-only "+tip), "\n", " "); got != c.files {
				t.Errorf("files %q, want %q", got, c.files)
			}
			bundle := s.must(bundleScript(s.settings))
			header, _, _ := strings.Cut(bundle, "\n\n")
			if strings.Count(header, "\n") != 2 || !strings.Contains(header, "\n-"+s.settings.Start) {
				t.Errorf("header %q", header)
			}
			if c.leftover || c.squashed {
				if by := s.in(s.project, "git log -1 --format='%an <%ae> %cn <%ce>' "+tip); by != "aibox <aibox@localhost> aibox <aibox@localhost>" {
					t.Errorf("by %q", by)
				}
			}
		})
	}
}

func TestClaudeScript(t *testing.T) {
	got := claudeScript(wire.TaskSettings{Model: "a'b", MaxTurns: 3, MaxBudgetUSD: 0.5})
	for _, want := range []string{`--model 'a'\''b'`, "--max-turns 3", "--max-budget-usd 0.5", "--permission-mode bypassPermissions", "--append-system-prompt-file /usr/share/aibox/task-prompt.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	good := wire.TaskSettings{Start: strings.Repeat("a", 40), Format: "sha1", TimeoutSeconds: 1}
	if err := checkSettings(good); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*wire.TaskSettings){
		func(s *wire.TaskSettings) { s.Start = "HEAD; rm -rf /" },
		func(s *wire.TaskSettings) { s.Format = "$(x)" },
		func(s *wire.TaskSettings) { s.TimeoutSeconds = 0 },
	} {
		bad := good
		change(&bad)
		if checkSettings(bad) == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}
