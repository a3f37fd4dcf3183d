//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/config"
	"aibox/internal/project"
	"aibox/test/pages"
)

const repository = "../.."

// TestPagesAreFollowed types the documents' commands that need no VM. The aibox
// is that of the scripts; test/vm follows the pages that need the real one.
func TestPagesAreFollowed(t *testing.T) {
	all, err := pages.Read(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range pages.Unused(all) {
		t.Errorf("%s has no command %q, for which there is a rule", r.Page, r.Command)
	}
	goEnv, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(goEnv))
	for page, commands := range all {
		t.Run(page, func(t *testing.T) {
			home := t.TempDir()
			dir := pages.Project(t, home)
			kept := filepath.Join(home, ".aibox", "projects", project.Name(dir))
			if page == "clipboard.md" || page == "ide.md" || page == "troubleshooting.md" { // which speak of the last run
				pages.EarlierRun(t, kept)
			}
			if page == "README.md" {
				dir = checkout(t)
			}
			pages.Follow(t, commands, pages.Reader{
				Place: pages.Machine, Home: home, Dir: dir, Limit: 5 * time.Minute,
				Env: []string{
					"PATH=" + os.Getenv("PATH") + ":" + filepath.Join(home, ".local", "bin"), "TERM=xterm", "GORACE=atexit_sleep_ms=0",
					"GOMODCACHE=" + caches[0], "GOCACHE=" + caches[1], "ANTHROPIC_API_KEY=sk-ant-of-the-reader",
				},
			})
			if page == "README.md" {
				for _, name := range []string{"bin/aibox", "share/man/man1/aibox-run.1", "share/bash-completion/completions/aibox", "share/zsh/site-functions/_aibox"} {
					if _, err := os.Stat(filepath.Join(home, ".local", name)); err != nil {
						t.Errorf("make install: %v", err)
					}
				}
			}
		})
	}
}

// checkout copies what "make install" needs of the repository.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"cmd", "internal", "demo", "docs"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(repository, name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Makefile", "go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(repository, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The configs that the pages show must be configs.
func TestPagesShowRealConfigs(t *testing.T) {
	blocks, err := pages.Config(repository)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) < 3 {
		t.Errorf("only %d configs were found", len(blocks))
	}
	for where, text := range blocks {
		if _, err := config.Parse(where, []byte(text)); err != nil {
			t.Error(err)
		}
	}
}
