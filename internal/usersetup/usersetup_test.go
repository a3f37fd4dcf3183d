package usersetup

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aibox/internal/config"
	"aibox/internal/project"

	"github.com/google/go-cmp/cmp"
)

// user is a home with a ~/.claude.
type user struct {
	t    *testing.T
	home string
}

func newUser(t *testing.T) user {
	u := user{t, t.TempDir()}
	u.mkdir(".claude")
	return u
}

func (u user) path(name string) string { return filepath.Join(u.home, filepath.FromSlash(name)) }

func (u user) mkdir(name string) {
	u.t.Helper()
	if err := os.MkdirAll(u.path(name), 0o700); err != nil {
		u.t.Fatal(err)
	}
}

func (u user) write(name, text string) {
	u.t.Helper()
	u.mkdir(filepath.Dir(name))
	if err := os.WriteFile(u.path(name), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

func (u user) link(target, name string) {
	u.t.Helper()
	if err := os.Symlink(target, u.path(name)); err != nil {
		u.t.Fatal(err)
	}
}

func (u user) read(change ...func(*config.Settings)) *Setup {
	u.t.Helper()
	place, err := project.NewPlace(u.home)
	if err != nil {
		u.t.Fatal(err)
	}
	s, err := config.Parse("", nil)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, f := range change {
		f(&s)
	}
	setup := Read(place, u.home, s)
	u.t.Cleanup(func() { setup.Close() })
	return setup
}

func folders(s *Setup) (names []string) {
	for _, f := range s.Folders {
		names = append(names, f.Name)
	}
	return names
}

func TestReadsAllParts(t *testing.T) {
	u := newUser(t)
	u.write(".claude/skills/one/SKILL.md", "skill")
	u.write(".claude/agents/a.md", "agent")
	u.write(".claude/commands/c.md", "command")
	u.write(".claude/CLAUDE.md", "be brief")
	u.write(".claude/settings.json", `{"model": "opus", "hooks": {}, "verbose": true}`)
	u.write(".claude/.credentials.json", "secret")
	u.write(".claude/projects/p/s.jsonl", "history")
	s := u.read()
	if diff := cmp.Diff([]string{"skills", "agents", "commands"}, folders(s)); diff != "" {
		t.Error(diff)
	}
	if got := s.Folders[0].Target(); got != "/home/user/.claude/skills" {
		t.Errorf("target %q", got)
	}
	if string(s.Copied.Memory) != "be brief\n" {
		t.Errorf("memory %q", s.Copied.Memory)
	}
	if len(s.Copied.Settings) != 2 || string(s.Copied.Settings["model"]) != `"opus"` || string(s.Copied.Settings["verbose"]) != "true" {
		t.Errorf("settings %s", s.Copied.Settings)
	}
	if s.LeftOut != nil {
		t.Errorf("left out: %q", s.LeftOut)
	}
}

func TestEachPartHasItsKey(t *testing.T) {
	u := newUser(t)
	for _, name := range []string{"skills", "agents", "commands"} {
		u.mkdir(".claude/" + name)
	}
	u.write(".claude/CLAUDE.md", "be brief")
	u.write(".claude/settings.json", `{"model":"opus"}`)
	for key, off := range map[string]func(*config.Settings){
		"skills":   func(s *config.Settings) { s.Skills = false },
		"agents":   func(s *config.Settings) { s.Agents = false },
		"commands": func(s *config.Settings) { s.Commands = false },
	} {
		if got := folders(u.read(off)); len(got) != 2 || slices.Contains(got, key) {
			t.Errorf("%s: false gives %v", key, got)
		}
	}
	if s := u.read(func(s *config.Settings) { s.ClaudeMD = false }); s.Copied.Memory != nil || s.Copied.Settings == nil {
		t.Errorf("claude-md: false gives %q and %s", s.Copied.Memory, s.Copied.Settings)
	}
	if s := u.read(func(s *config.Settings) { s.Settings = false }); s.Copied.Settings != nil || s.Copied.Memory == nil {
		t.Errorf("settings: false gives %q and %s", s.Copied.Memory, s.Copied.Settings)
	}
}

func TestNothingThereIsNothingSaid(t *testing.T) {
	u := newUser(t)
	if s := u.read(); s.Folders != nil || s.Copied.Memory != nil || s.Copied.Settings != nil || s.LeftOut != nil {
		t.Errorf("an empty ~/.claude gives %+v", s)
	}
	if err := os.Remove(u.path(".claude")); err != nil {
		t.Fatal(err)
	}
	if s := u.read(); s.Folders != nil || s.LeftOut != nil {
		t.Errorf("no ~/.claude gives %+v", s)
	}
}

// A VM may write where a link leads, so only what lies in ~/.claude counts.
func TestLinksThatLeaveAreLeftOut(t *testing.T) {
	u := newUser(t)
	u.write("other/secret", "secret")
	u.link("../other", ".claude/skills")
	u.link(u.path("other"), ".claude/agents")
	u.link("..", ".claude/commands")
	u.link("../other/secret", ".claude/CLAUDE.md")
	u.link(u.path("other/secret"), ".claude/settings.json")
	s := u.read()
	if s.Folders != nil || s.Copied.Memory != nil || s.Copied.Settings != nil {
		t.Errorf("passed on: %+v", s)
	}
	if len(s.LeftOut) != 5 || !strings.HasPrefix(s.LeftOut[0], "~/.claude/skills is left out of the VM: it is a link that leads out of ~/.claude") ||
		!strings.HasSuffix(s.LeftOut[3], `"claude-md: false" in the config says that this is meant`) {
		t.Errorf("left out: %s", strings.Join(s.LeftOut, "\n"))
	}

	inside := newUser(t)
	inside.write(".claude/mine/skills/one/SKILL.md", "skill")
	inside.write(".claude/mine/memory", "be brief\n")
	inside.link("mine/skills", ".claude/skills")
	inside.link("mine/memory", ".claude/CLAUDE.md")
	if s := inside.read(); len(s.Folders) != 1 || string(s.Copied.Memory) != "be brief\n" || s.LeftOut != nil {
		t.Errorf("links inside ~/.claude: %+v", s)
	}
}

// ~/.claude itself is often a link into a repository of dot files.
func TestTheFolderItselfMayBeALink(t *testing.T) {
	u := newUser(t)
	if err := os.Remove(u.path(".claude")); err != nil {
		t.Fatal(err)
	}
	u.write("dotfiles/claude/skills/one/SKILL.md", "skill")
	u.link("dotfiles/claude", ".claude")
	if s := u.read(); len(s.Folders) != 1 || s.LeftOut != nil {
		t.Errorf("%+v", s)
	}
}

func TestOddFilesAreLeftOut(t *testing.T) {
	u := newUser(t)
	u.write(".claude/skills", "a file")
	u.mkdir(".claude/CLAUDE.md")
	u.write(".claude/settings.json", `["model"]`)
	s := u.read()
	if s.Folders != nil || s.Copied.Memory != nil || s.Copied.Settings != nil || len(s.LeftOut) != 3 {
		t.Errorf("%+v", s)
	}
	u = newUser(t)
	u.write(".claude/CLAUDE.md", strings.Repeat("x", maxMemory+1))
	u.write(".claude/settings.json", strings.Repeat(" ", maxSettings)+"{}")
	if s := u.read(); s.Copied.Memory != nil || s.Copied.Settings != nil || len(s.LeftOut) != 2 {
		t.Errorf("%d left out: %q", len(s.LeftOut), s.LeftOut)
	}
}

func TestHarmless(t *testing.T) {
	for value, want := range map[string][]string{
		`{"model":"opus","verbose":false,"attribution":{"commit":"","sessionUrl":false}}`:       {"attribution", "model", "verbose"},
		`{"model":["opus"],"verbose":"yes","theme":{"command":"x"},"language":null}`:            nil,
		`{"attribution":{"commit":{"command":"x"}}}`:                                            nil,
		`{"model":"` + strings.Repeat("x", maxText+1) + `"}`:                                    nil,
		`{"attribution":{"` + strings.Repeat("x", maxValue) + `":""}}`:                          nil,
		`{"Model":"opus","unknown":"x","hooks":{"Stop":[]},"env":{"A":"b"},"apiKeyHelper":"x"}`: nil,
	} {
		got, err := harmless([]byte(value))
		if err != nil {
			t.Errorf("%s: %v", value, err)
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("%s: %s", value, diff)
		}
	}
	if got, err := harmless([]byte(`{"model":"opus"} {}`)); err == nil || got != nil {
		t.Errorf("two documents: %s, %v", got, err)
	}
}

// The list must never hold what starts a program, holds a secret or widens rights.
func TestTheListHoldsNothingDangerous(t *testing.T) {
	dangerous := regexp.MustCompile(`(?i)hook|env|helper|statusline|permission|mcp|plugin|marketplace|command|script|sandbox|authe|authr|refresh|export|login|key|token|secret|header|url|proxy|path|dir|file|bypass|trust|update|telemetry|otel|aws|gcp|remote|worktree|agent|skill`)
	for name := range allowed() {
		if dangerous.MatchString(name) {
			t.Errorf("%s is in the list of settings that a VM gets", name)
		}
	}
	for _, name := range []string{
		"hooks", "disableAllHooks", "env", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper", "statusLine", "subagentStatusLine", "fileSuggestion",
		"permissions", "defaultMode", "additionalDirectories", "skipDangerousModePermissionPrompt", "sandbox",
		"mcpServers", "enabledMcpjsonServers", "enableAllProjectMcpServers", "allowedMcpServers", "enabledPlugins", "extraKnownMarketplaces",
		"forceLoginMethod", "forceLoginOrgUUID", "autoUpdatesChannel", "companyAnnouncements", "plansDirectory", "autoMemoryDirectory", "defaultShell", "agent",
	} {
		if _, ok := allowed()[name]; ok {
			t.Errorf("%s is in the list of settings that a VM gets", name)
		}
	}
}

func FuzzHarmless(f *testing.F) {
	f.Add([]byte(`{"model":"opus","hooks":{},"attribution":{"commit":""}}`))
	f.Add([]byte(`{"model":1,"model":"x"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := harmless(text)
		if err != nil && got != nil {
			t.Errorf("%s with %v", got, err)
		}
		for name, value := range got {
			form, ok := allowed()[name]
			if !ok || !form.fits(value) {
				t.Errorf("%s: %s passes", name, value)
			}
		}
	})
}
