//go:build unix

package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Reader is who follows a page.
type Reader struct {
	Place Place
	Home  string
	Dir   string   // where the page is begun
	Env   []string // aibox is in its PATH
	Limit time.Duration
}

// editor adds the lines of a file to another one, but those it has, as the
// reader of a page would.
const editor = `while IFS= read -r line; do grep -qxF -- "$line" "$1" || printf '%s\n' "$line" >>"$1"; done <"$HOME/.lines"`

// Follow types the commands of a page. Each must end with 0.
func Follow(t *testing.T, commands []Command, r Reader) {
	t.Helper()
	write(t, filepath.Join(r.Home, ".editor"), editor+"\n")
	env := append(slices.Clone(r.Env), "HOME="+r.Home, "EDITOR=sh "+filepath.Join(r.Home, ".editor"), "VISUAL=", "LC_ALL=C.UTF-8")
	s := start(t, r.Dir, env, r.Limit)
	for _, c := range commands {
		rule := ruleFor(c)
		if rule.NotHere != "" || rule.Only != 0 && rule.Only != r.Place {
			continue
		}
		write(t, filepath.Join(r.Home, ".lines"), strings.Join(rule.Config, "\n")+"\n")
		if rule.Copied != "" {
			if text, code := s.do(s.lastLine(rule.Copied), nil); code != 0 {
				t.Errorf("%s: the line that is copied before it ended with %d:\n%s", c, code, text)
			}
		}
		answers := rule.Answers
		if r.Place == VM && rule.AnswersVM != nil {
			answers = rule.AnswersVM
		}
		began := time.Now()
		text, code := s.do(c.Text, answers)
		t.Logf("%s: %d, %v", c, code, time.Since(began).Round(time.Millisecond))
		if code != 0 && (!rule.Quiet || code != 1) {
			t.Errorf("%s: exit code %d\n%s", c, code, text)
		}
		if !regexp.MustCompile(rule.Sees).MatchString(text) {
			t.Errorf("%s: no %q in\n%s", c, rule.Sees, text)
		}
	}
	s.end()
}

// Project makes what the pages speak of: ~/src/my-project, a repository with a
// commit and a change that is in no commit. It returns the folder.
func Project(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, "src", "my-project")
	write(t, filepath.Join(dir, "go.mod"), "module example.com/mine\n")
	write(t, filepath.Join(dir, "main.go"), "package main\n")
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = Reader\n\temail = reader@example.com\n[init]\n\tdefaultBranch = main\n")
	s := start(t, dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb"}, time.Minute)
	for _, line := range []string{"git init --quiet", "git add .", "git commit --quiet -m start", "echo '// changed' >> main.go"} {
		if text, code := s.do(line, nil); code != 0 {
			t.Fatalf("%s: %d\n%s", line, code, text)
		}
	}
	s.end()
	return dir
}

// EarlierRun writes the logs of a run into the folder kept for a project.
func EarlierRun(t *testing.T, kept string) {
	t.Helper()
	write(t, filepath.Join(kept, "console.log"), "[    0.000000] Linux version 6.12\n")
	write(t, filepath.Join(kept, "proxy.log"), fmt.Sprintf("%s connected api.anthropic.com:443\n%[1]s refused asked.example:443: asked.example:443 is not in the allow list\n",
		"2030-01-02T03:04:05Z"))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
