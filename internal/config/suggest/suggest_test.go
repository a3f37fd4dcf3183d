package suggest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"aibox/internal/config/preset"

	"github.com/google/go-cmp/cmp"
)

// project makes files of the given names; one that ends in "/" is a folder.
func project(t *testing.T, names ...string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if name[len(name)-1] == '/' {
			if err := os.MkdirAll(at, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func detect(t *testing.T, root *os.Root) []string {
	t.Helper()
	found, err := Detect(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprint(f.Preset, f.Because))
	}
	return got
}

func TestDetect(t *testing.T) {
	for name, want := range map[string]string{
		"go.mod": "go", "web/package.json": "npm", "requirements-dev.txt": "pypi", "Cargo.toml": "cargo", ".github/": "github",
		"Dockerfile.test": "docker", "Containerfile": "docker", "debian/control": "debian", "pom.xml": "maven", "app/build.gradle.kts": "maven",
		"Gemfile": "rubygems", ".gitlab-ci.yml": "gitlab", "src/App.csproj": "nuget", "composer.json": "packagist",
	} {
		file := filepath.Clean(name)
		if diff := cmp.Diff([]string{fmt.Sprintf("%s[%s]", want, file)}, detect(t, project(t, name))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, name := range []string{"node_modules/x/package.json", "a/b/c/d/e/go.mod", "xgo.mod", "control", ".git/go.mod", "requirements.md"} {
		if got := detect(t, project(t, name)); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEveryPresetCanBeFound(t *testing.T) {
	have := map[string]bool{}
	for _, r := range rules() {
		have[r.preset] = true
	}
	for _, name := range preset.Names() {
		if !have[name] {
			t.Errorf("no rule finds %s", name)
		}
		delete(have, name)
	}
	if len(have) > 0 {
		t.Errorf("rules for no preset: %v", have)
	}
}

func TestRemotes(t *testing.T) {
	for config, want := range map[string][]string{
		"[remote \"o\"]\n\turl = https://github.com/a/b.git\n":                     {"github[the git remotes]"},
		"url = git@gitlab.com:a/b.git\nurl=ssh://git@GITHUB.com:22/a\n":            {"github[the git remotes]", "gitlab[the git remotes]"},
		"url = https://github.com.evil.example/a\nurl = https://x/github.com\n":    nil,
		"url = https://user:pw@github.com@evil.example/\npushurl = github.com:x\n": nil,
	} {
		root := project(t, ".git/config")
		if err := root.WriteFile(".git/config", []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, detect(t, root)); diff != "" {
			t.Errorf("%q: %s", config, diff)
		}
	}
}

// A link must lead nowhere: not as a folder, not as .git, not as .git/config.
func TestLinksLeadNowhere(t *testing.T) {
	outside := project(t, "go.mod", "config")
	if err := outside.WriteFile("config", []byte("url = https://github.com/a/b"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := project(t, "real/", "inside/config")
	if err := root.WriteFile("inside/config", []byte("url = https://github.com/a/b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": outside.Name(), "up": "..", ".git": "inside"} {
		if err := root.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	if got := detect(t, root); got != nil {
		t.Errorf("found %v", got)
	}
	root = project(t, ".git/", "inside")
	if err := root.Symlink("../inside", ".git/config"); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile("inside", []byte("url = https://github.com/a/b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := detect(t, root); got != nil {
		t.Errorf("found %v", got)
	}
}

func TestDetectStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Detect(ctx, project(t, "go.mod")); err == nil {
		t.Error("a cancelled context was ignored")
	}
}
