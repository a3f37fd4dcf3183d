package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestClaudeKeepsOtherAnswers(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, claudeState)
	old := `{"theme":"light","projects":{"/project":{"lastCost":1},"/other":{}},"customApiKeyResponses":{"approved":["mine"],"rejected":["x"]}}`
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Claude(home, os.Getuid(), os.Getgid(), true); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := `{"customApiKeyResponses":{"approved":["mine","-the-key-on-the-host"],"rejected":["x"]},"hasCompletedOnboarding":true,` +
		`"projects":{"/other":{},"/project":{"hasTrustDialogAccepted":true,"lastCost":1}},"theme":"light"}`
	if compact, _ := json.Marshal(got); string(compact) != want {
		t.Errorf("got  %s\nwant %s", compact, want)
	}
}

func TestClaudeLeavesOddFilesAlone(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"damaged": func(p string) error { return os.WriteFile(p, []byte("{half"), 0o600) },
		"list":    func(p string) error { return os.WriteFile(p, []byte("[]"), 0o600) },
		"link":    func(p string) error { return os.Symlink("/etc/hostname", p) },
		"folder":  func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		home := t.TempDir()
		path := filepath.Join(home, claudeState)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		if err := Claude(home, os.Getuid(), os.Getgid(), true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s: the file was replaced: %v", name, err)
		}
	}
}

func TestClaudeWithoutKeyLeavesTheLoginToTheUser(t *testing.T) {
	home := t.TempDir()
	if err := Claude(home, os.Getuid(), os.Getgid(), false); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(home, claudeState))
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	if _, done := state["hasCompletedOnboarding"]; done {
		t.Error("the onboarding, which asks for the login, was marked as done")
	}
}
