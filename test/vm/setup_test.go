//go:build vm

package vm

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"aibox/demo"
	"aibox/internal/run"
)

// writeHome writes a file of the host user's home.
func (b *box) writeHome(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// ownSetup gives the host user a set-up of Claude Code with all parts, and
// things beside them that must not enter the VM.
func (b *box) ownSetup() {
	b.t.Helper()
	b.writeHome(".claude/skills/greet/SKILL.md", "host skill\n")
	b.writeHome(".claude/agents/reviewer.md", "host agent\n")
	b.writeHome(".claude/commands/ship.md", "host command\n")
	b.writeHome(".claude/CLAUDE.md", "be brief\n")
	b.writeHome(".claude/settings.json", `{"model":"opus","theme":"light","hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch /project/hooked"}]}]},
		"env":{"PLANTED":"1"},"apiKeyHelper":"/bin/leak","statusLine":{"type":"command","command":"leak"},"permissions":{"defaultMode":"bypassPermissions"}}`)
	b.writeHome(".claude/.credentials.json", "host-login-secret")
	b.writeHome(".claude/projects/-src/session.jsonl", "host-history-secret")
	b.writeHome("secret", "host-file-secret")
}

func TestSetupOfTheUserIsInTheVMAndReadOnly(t *testing.T) {
	b := newBox(t)
	b.ownSetup()
	for link, target := range map[string]string{
		".claude/skills/up": "../../secret", ".claude/skills/abs": filepath.Join(b.home, "secret"),
		".claude/agents/login": "../.credentials.json", ".claude/commands/tree": b.home,
	} {
		if err := os.Symlink(target, filepath.Join(b.home, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := b.shell()
	if got := s.must("cat ~/.claude/skills/greet/SKILL.md ~/.claude/agents/reviewer.md ~/.claude/commands/ship.md ~/.claude/CLAUDE.md"); got !=
		"host skill\nhost agent\nhost command\nbe brief\n" {
		t.Errorf("the VM has %q", got)
	}
	if got := s.must("jq -cS . ~/.claude/settings.json"); got != `{"model":"opus","theme":"light"}`+"\n" {
		t.Errorf("the VM's settings are %s", got)
	}
	if out, code := s.do("grep -rlE 'host-(login|history|file)-secret|leak|PLANTED' ~/ /tmp 2>/dev/null"); code == 0 {
		t.Errorf("the VM has of the host what it must not: %s", out)
	}
	for _, attack := range []string{
		"cat ~/.claude/skills/up", "cat ~/.claude/skills/abs", "cat ~/.claude/agents/login", "ls ~/.claude/commands/tree/",
		"echo x > ~/.claude/skills/greet/SKILL.md", "touch ~/.claude/agents/new.md", "rm ~/.claude/commands/ship.md",
		"mv ~/.claude/skills ~/.claude/other",
		asRoot("mount -o remount,rw /home/user/.claude/skills && echo x > /home/user/.claude/skills/greet/SKILL.md"),
		asRoot("mount -o remount,rw,bind /home/user/.claude/agents && touch /home/user/.claude/agents/new.md"),
		asRoot("mkdir -p /tmp/s && mount -t virtiofs aibox /tmp/s && echo x > /tmp/s/commands/ship.md"),
		asRoot("cat /tmp/s/skills/../../secret || cat /tmp/s/skills/up || ls /tmp/s/skills/../../.claude"),
	} {
		if out, code := s.do(attack); code == 0 {
			t.Errorf("%s succeeded: %s", attack, out)
		}
	}
	for name, want := range map[string]string{
		"skills/greet/SKILL.md": "host skill\n", "agents/reviewer.md": "host agent\n", "commands/ship.md": "host command\n", "CLAUDE.md": "be brief\n",
	} {
		if got, err := os.ReadFile(filepath.Join(b.home, ".claude", name)); err != nil || string(got) != want {
			t.Errorf("on the host %s is %q, %v", name, got, err)
		}
	}
}

func TestSetupChosenInTheVMIsKept(t *testing.T) {
	b := newBox(t)
	b.ownSetup()
	b.mustRun(`jq '.model = "sonnet" | .permissions = {"allow": ["Bash(ls)"]}' ~/.claude/settings.json > /tmp/s && cat /tmp/s > ~/.claude/settings.json
		echo '- learned in the VM' >> ~/.claude/CLAUDE.md; mkdir -p ~/.claude/output-styles; echo style > ~/.claude/output-styles/mine.md`)
	b.writeHome(".claude/settings.json", `{"model":"haiku","theme":"dark","verbose":true}`)
	b.writeHome(".claude/CLAUDE.md", "be kind\n")
	got := b.mustRun("jq -cS . ~/.claude/settings.json; cat ~/.claude/CLAUDE.md ~/.claude/output-styles/mine.md; ls -ln ~/.claude/settings.json | cut -d' ' -f3")
	want := `{"model":"sonnet","permissions":{"allow":["Bash(ls)"]},"theme":"dark","verbose":true}` + "\nbe kind\n- learned in the VM\nstyle\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("the second run has\n%swant\n%s", got, want)
	}
	b.config("skills: false\nagents: false\ncommands: false\nclaude-md: false\nsettings: false\n")
	got = b.mustRun("ls -A ~/.claude/skills ~/.claude/agents ~/.claude/commands 2>/dev/null | grep -v : | tr -d '\\n'; jq -cS . ~/.claude/settings.json; cat ~/.claude/CLAUDE.md")
	if want := `{"model":"sonnet","permissions":{"allow":["Bash(ls)"]}}` + "\n- learned in the VM\n"; got != want {
		t.Errorf("with all parts off the VM has\n%swant\n%s", got, want)
	}
}

// What the VM does to its home must neither reach the host nor keep the VM from
// starting again.
func TestSetupSurvivesAHostileHome(t *testing.T) {
	b := newBox(t)
	b.ownSetup()
	b.mustRun("mv ~/.claude ~/old && mkdir -p /project/elsewhere && ln -s /project/elsewhere ~/.claude")
	if got := b.mustRun("echo booted; ls -A /project/elsewhere"); got != "booted\n" {
		t.Errorf("with ~/.claude as a link out of the home: %q", got)
	}
	b.mustRun("rm ~/.claude && mkdir ~/.claude && echo file > ~/.claude/skills && ln -s ../../../project/elsewhere ~/.claude/agents && mkdir ~/.claude/settings.json ~/.claude/CLAUDE.md && ln -s /etc/hostname ~/.claude/.copied-by-aibox.json")
	got := b.mustRun("cat ~/.claude/skills ~/.claude/commands/ship.md; ls -A /project/elsewhere")
	if got != "file\nhost command\n" {
		t.Errorf("with odd files in ~/.claude: %q", got)
	}
	if entries, err := os.ReadDir(filepath.Join(b.project, "elsewhere")); err != nil || len(entries) != 0 {
		t.Errorf("the way led to %v, %v", entries, err)
	}
}

// A session may leave a file or a link where the config's next mounts go, or on
// the way to them. It must not keep the VM from booting. One mount is below what
// the state disk puts into the home.
func TestSetupMountsReplaceWhatTheVMPutThere(t *testing.T) {
	b := newBox(t)
	b.writeHome("reference/book.md", "host book\n")
	b.writeHome("skills/one/SKILL.md", "host skill\n")
	b.writeHome("deep/file.md", "host deep\n")
	b.mustRun(`echo mine > ~/reference; mkdir -p /project/out && ln -s /project/out ~/way; rm -rf ~/.claude/skills; echo mine > ~/.claude/skills`)
	b.config("skills: false\nmounts:\n  - ~/reference:/home/user/reference\n  - ~/skills:/home/user/.claude/skills\n  - ~/deep:/home/user/way/deep\n  - ~/deep:/home/user/.cache/deep\n")
	got := b.mustRun(`cat ~/reference/book.md ~/.claude/skills/one/SKILL.md ~/way/deep/file.md ~/.cache/deep/file.md ~/reference.replaced ~/.claude/skills.replaced; readlink ~/way.replaced; ls -A /project/out`)
	if want := "host book\nhost skill\nhost deep\nhost deep\nmine\nmine\n/project/out\n"; got != want {
		t.Errorf("the VM has %q, want %q", got, want)
	}
}

// The real Claude Code finds what aibox put into the VM.
func TestSetupReachesClaudeCode(t *testing.T) {
	b := newBox(t)
	b.writeHome(".claude/skills/zebra/SKILL.md", "---\nname: zebra\ndescription: counts the stripes of zebras\n---\nCount.\n")
	b.writeHome(".claude/agents/okapi.md", "---\nname: okapi\ndescription: hides from everybody\n---\nHide.\n")
	b.writeHome(".claude/CLAUDE.md", "Always think of giraffes.\n")
	b.writeHome(".claude/settings.json", `{"model":"haiku","hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch /project/hooked"}]}]}}`)
	const key = "sk-ant-the-key-that-only-the-host-holds"
	api := demo.NewAPI(key)
	var mu sync.Mutex
	var said strings.Builder
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 8<<20))
		mu.Lock()
		said.Write(body)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		api.ServeHTTP(w, r)
	})
	b.config("env: [ANTHROPIC_API_KEY]\n")
	b.mustRun("claude --print 'say hi' </dev/null", func(r *run.Request) { r.Upstream, r.APIKey = server.URL, key })
	mu.Lock()
	defer mu.Unlock()
	for _, model := range regexp.MustCompile(`"model":"[^"]*"`).FindAllString(said.String(), -1) {
		if !strings.HasPrefix(model, `"model":"claude-haiku`) {
			t.Errorf("Claude Code asked for %s", model)
		}
	}
	for _, want := range []string{"counts the stripes of zebras", "Always think of giraffes.", "hides from everybody", `"model":"claude-haiku`} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("Claude Code did not say %q in %d bytes", want, said.Len())
		}
	}
	if _, err := os.Lstat(filepath.Join(b.project, "hooked")); err == nil {
		t.Error("a hook of the host ran in the VM")
	}
}
