package config

import (
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"aibox/internal/fault"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func equal() cmp.Option { return cmpopts.EquateComparable(netip.Addr{}) }

// mistakesOf parses a text that must be wrong and returns its mistakes as
// "line:column: text | hint".
func mistakesOf(t *testing.T, text string) []string {
	t.Helper()
	s, err := Parse("c", []byte(text))
	var m Mistakes
	if !errors.As(err, &m) {
		t.Fatalf("Parse(%q) = %v, want Mistakes", text, err)
	}
	if fault.KindOf(err) != fault.Config {
		t.Errorf("Parse(%q): kind %v, want Config", text, fault.KindOf(err))
	}
	if diff := cmp.Diff(Settings{}, s, equal()); diff != "" {
		t.Errorf("Parse(%q): settings beside an error: %s", text, diff)
	}
	var got []string
	for _, one := range m {
		got = append(got, strings.TrimPrefix(one.Error(), "c:")+" | "+one.Hint)
	}
	return got
}

func TestMistakes(t *testing.T) {
	const names = "the keys are allow, memory, cpus, disk, mounts, path, env, git, shares, ide, clipboard, agents, commands, skills, claude-md, settings"
	for _, test := range []struct{ text, want string }{
		// Shape.
		{"- a\n", `1:1: the config must be a mapping of keys to values, not a list | write one "key: value" on each line`},
		{"hello\n", `1:1: the config must be a mapping of keys to values, not the text "hello" | write one "key: value" on each line`},
		{"alow: []\n", `1:1: unknown key "alow" | did you mean "allow"?`},
		{"Memory: 1\n", `1:1: unknown key "Memory" | did you mean "memory"?`},
		{"network: 1\n", `1:1: unknown key "network" | ` + names},
		{"? [a]\n: 1\n", `1:3: a key must be a word, not a list | ` + names},
		{"<<: {memory: 512}\n", `1:1: "<<" does not merge mappings here | write the keys out`},
		{"cpus: 2\nmemory: 512\ncpus: 3\n", `3:1: "cpus" is written twice, first on line 1 | keep one of the two`},
		{"cpus: 2\n---\ncpus: 3\n", `2:1: a second document begins here | remove the line "---"`},
		// Syntax.
		{"allow:\n  - *.example.com\n", `2:5: an entry that begins with * must stand in quotes | write "*.example.com", with the quotes`},
		{"allow:\n\t- a.com\n", `2:1: not valid YAML: found character that cannot start any token | indent with spaces, not with tabs`},
		{"memory: a: b\n", `1:10: not valid YAML: mapping values are not allowed in this context | put a text that holds a colon and a space in quotes`},
		{"allow: [a.com\n", `2:1: not valid YAML: did not find expected ',' or ']' | check the quotes, brackets and indentation of this line and the one before`},
		{"cpus: 2\nide: \xff\n", `2:6: byte 0xff is not UTF-8 | save the file as UTF-8`},
		{"cpus: 2\n# \x1b[31m\n", `2:3: control character U+001B | remove the character`},
		// Numbers.
		{"memory: 1\n", `1:9: memory is 1, but must be 256 to 1048576 MiB | write memory: 2048`},
		{"memory: 2GiB\n", `1:9: memory must be a whole number of MiB, not the text "2GiB" | write memory: 2048`},
		{"memory: \"2048\"\n", `1:9: memory must be a whole number of MiB, not the text "2048" | write memory: 2048`},
		{"memory: 0x800\n", `1:9: memory must be a whole number of MiB, not the number 0x800 | write memory: 2048`},
		{"memory: 2048.5\n", `1:9: memory must be a whole number of MiB, not the number 2048.5 | write memory: 2048`},
		{"memory: 99999999999999999999\n", `1:9: memory must be a whole number of MiB, not the number 99999999999999999999 | write memory: 2048`},
		{"memory:\n", `1:8: memory must be a whole number of MiB, not nothing | write memory: 2048`},
		{"memory: [1]\n", `1:9: memory must be a whole number of MiB, not a list | write memory: 2048`},
		{"memory: !x 1\n", `1:9: memory must be a whole number of MiB, not a value with the tag "!x" | write memory: 2048`},
		{"cpus: 0\n", `1:7: cpus is 0, but must be 1 to 64 | write cpus: 2`},
		{"cpus: 10000\n", `1:7: cpus is 10000, but must be 1 to 64 | write cpus: 2`},
		{"cpus: -1\n", `1:7: cpus is -1, but must be 1 to 64 | write cpus: 2`},
		{"disk: 0\n", `1:7: disk is 0, but must be 1 to 8192 GiB | write disk: 16`},
		// Switches.
		{"ide: yes\n", `1:6: ide must be true or false, not the text "yes" | write ide: true or ide: false`},
		{"claude-md: 1\n", `1:12: claude-md must be true or false, not the number 1 | write claude-md: true or claude-md: false`},
		// Words.
		{"shares: nfs\n", `1:9: shares must be auto, virtiofs or 9p, not the text "nfs" | write shares: auto`},
		{"shares: 9\n", `1:9: shares must be auto, virtiofs or 9p, not the number 9 | write shares: auto`},
		{"shares:\n", `1:8: shares must be auto, virtiofs or 9p, not nothing | write shares: auto`},
		// Lists.
		{"allow: a.com\n", `1:8: allow must be a list, not the text "a.com" | write allow: [example.com]`},
		{"env: {A: b}\n", `1:6: env must be a list, not a mapping | write env: [NAME=value]`},
		{"allow: [443]\n", `1:9: an item of allow must be a text, not the number 443 | put it in quotes: "443"`},
		{"allow:\n  - a.com: 80\n", `2:5: an item of allow must be a text, not a mapping | write "a.com:80", without a space after the colon`},
		{"path: [[a]]\n", `1:8: an item of path must be a text, not a list | write path: [/opt/tools/bin]`},
	} {
		if diff := cmp.Diff([]string{test.want}, mistakesOf(t, test.text)); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestMistakesAllAtOnce(t *testing.T) {
	got := mistakesOf(t, `memory: lots
alow: []
allow: [localhost:80, 0.0.0.0:1, "*", "http://x", "a..b", "*.*.x", "host:0", "host:99999"]
mounts:
  - ~/src:/usr
env: [PATH=/bin]
`)
	if len(got) != 12 {
		t.Errorf("%d mistakes, want 12:\n%s", len(got), strings.Join(got, "\n"))
	}
	for i, prefix := range []string{"1:9: ", "2:1: ", "3:9: ", "3:23: ", "3:34: ", "3:39: ", "3:51: ", "3:59: ", "3:68: ", "3:78: ", "5:5: ", "6:7: "} {
		if i < len(got) && (!strings.HasPrefix(got[i], prefix) || strings.HasSuffix(got[i], "| ")) {
			t.Errorf("mistake %d = %q, want place %q and a hint", i, got[i], prefix)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	for _, text := range []string{
		"", "# nothing\n", "null\n", "---\n", "allow:\n", "allow: ~\n", "env: []\n", "\ufeffmemory: 512\n",
		"memory: 512\r\nallow:\r\n  - a.com\r\n", "{memory: 512, allow: [a.com]}\n",
		"path: &p [/opt/bin]\nmounts: []\n", "allow: [&a a.com, \"b.com\"]\n", "%YAML 1.1\n---\ncpus: 3\n",
	} {
		if _, err := Parse("c", []byte(text)); err != nil {
			t.Errorf("Parse(%q) = %v", text, err)
		}
	}
}

func TestDefaultText(t *testing.T) {
	got, err := Parse("c", DefaultText())
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	for _, h := range []string{"api.anthropic.com", "claude.ai", "claude.com", "platform.claude.com", "mcp-proxy.anthropic.com", "code.claude.com"} {
		if len(got.Allow) == 0 || got.Allow[0].String() != h {
			t.Fatalf("allow = %v, want %s next", got.Allow, h)
		}
		got.Allow = got.Allow[1:]
	}
	if len(got.Allow) > 0 {
		t.Errorf("also allowed: %v", got.Allow)
	}
	got.Allow = nil
	if diff := cmp.Diff(want, got, equal()); diff != "" {
		t.Errorf("default config differs from the defaults:\n%s", diff)
	}
}

// Every key that the default text shows as a comment must be valid when
// the comment signs are removed.
func TestDefaultTextUncommented(t *testing.T) {
	commented := regexp.MustCompile(`^#([a-z]| {2}-| {4}[a-z])`)
	var b strings.Builder
	for line := range strings.Lines(string(DefaultText())) {
		if commented.MatchString(line) {
			line = line[1:]
		}
		b.WriteString(line)
	}
	text := b.String()
	for _, k := range keys() {
		if !strings.Contains("\n"+text, "\n"+k.name+":") {
			t.Errorf("the default text does not show %q", k.name)
		}
	}
	if _, err := Parse("c", []byte(text)); err != nil {
		t.Errorf("%v in:\n%s", err, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(DefaultText())
	f.Add([]byte("allow: [localhost:80, \"*.a.com\", preset:go, '[::1]:80']\nmemory: 1\n"))
	f.Add([]byte("mounts: [~/a:/b, /c:/b/d]\nenv: [A=b, C, ANTHROPIC_API_KEY]\npath: [PATH, /x]\n"))
	f.Add([]byte("git:\n- remote: github.com/a/b\n  push: [\"x/*\"]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("\xef\xbb\xbf? [a, b]\n: {<<: *x}\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("c", text)
		if err != nil {
			var m Mistakes
			if !errors.As(err, &m) || len(m) == 0 {
				t.Fatalf("error is not Mistakes: %v", err)
			}
			for _, one := range m {
				if strings.ContainsAny(one.Text+one.Hint, "\n") {
					t.Errorf("mistake of several lines: %q", one)
				}
			}
			return
		}
		again, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse("c", again)
		if err != nil {
			t.Fatalf("%v in what was made of %q:\n%s", err, text, again)
		}
		if diff := cmp.Diff(s, back, equal(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("settings changed:\n%s", diff)
		}
	})
}
