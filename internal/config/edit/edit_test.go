package edit

import (
	"errors"
	"strings"
	"testing"

	"aibox/internal/config"
	"aibox/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func TestAddAllow(t *testing.T) {
	for _, test := range []struct{ name, before, after string }{
		{"block", "allow:\n  - a.com # first\n\n# size\nmemory: 512\n", "allow:\n  - a.com # first\n  - x.com\n\n# size\nmemory: 512\n"},
		{"block without indent", "allow:\n- a.com\nmemory: 512\n", "allow:\n- a.com\n- x.com\nmemory: 512\n"},
		{"wide dash", "allow:\n   -   a.com\n", "allow:\n   -   a.com\n   -   x.com\n"},
		{"quoted item", "allow:\n  - \"a.com\"\n", "allow:\n  - \"a.com\"\n  - x.com\n"},
		{"no line end", "allow:\n  - a.com", "allow:\n  - a.com\n  - x.com"},
		{"CRLF", "allow:\r\n  - a.com\r\nmemory: 512\r\n", "allow:\r\n  - a.com\r\n  - x.com\r\nmemory: 512\r\n"},
		{"CRLF without line end", "cpus: 2\r\nallow:\r\n  - a.com", "cpus: 2\r\nallow:\r\n  - a.com\r\n  - x.com"},
		{"comment behind", "allow:\n  - a.com\n  # - b.com\nmemory: 512\n", "allow:\n  - a.com\n  - x.com\n  # - b.com\nmemory: 512\n"},
		{"item on the next line", "allow:\n  -\n    a.com\nmemory: 512\n", "allow:\n  -\n    a.com\n  - x.com\nmemory: 512\n"},
		{"item over two lines", "allow:\n  - \"a.\\\n    com\"\nmemory: 512\n", "allow:\n  - \"a.\\\n    com\"\n  - x.com\nmemory: 512\n"},
		{"block scalar item", "allow:\n  - |-\n    a.com\nmemory: 512\n", "allow:\n  - |-\n    a.com\n  - x.com\nmemory: 512\n"},
		{"flow", "allow: [a.com, b.com] # c\n", "allow: [a.com, b.com, x.com] # c\n"},
		{"flow quoted", "allow: ['a.com', \"*.b.com\"]\n", "allow: ['a.com', \"*.b.com\", x.com]\n"},
		{"flow quoted brackets", "allow: ['[::1]:80']\n", "allow: ['[::1]:80', x.com]\n"},
		{"flow empty", "allow: []\n", "allow: [x.com]\n"},
		{"flow empty with space", "allow: [ ]\n", "allow: [x.com ]\n"},
		{"flow final comma", "allow: [a.com,]\n", "allow: [a.com, x.com]\n"},
		{"flow over lines", "allow: [\n  a.com, # ]\n  b.com # last, \"\n]\nmemory: 512\n", "allow: [\n  a.com, # ]\n  b.com, x.com # last, \"\n]\nmemory: 512\n"},
		{"flow anchored", "allow: &a [a.com]\n", "allow: &a [a.com, x.com]\n"},
		{"flow after wide characters", "# ü\n\"allow\": [a.com] # ü\n", "# ü\n\"allow\": [a.com, x.com] # ü\n"},
		{"block anchored", "allow: &a\n  - a.com\n", "allow: &a\n  - a.com\n  - x.com\n"},
		{"alias item", "env: [&e A=b]\nallow:\n  - &a a.com\n", "env: [&e A=b]\nallow:\n  - &a a.com\n  - x.com\n"},
		{"no value", "allow:\nmemory: 512\n", "allow:\n  - x.com\nmemory: 512\n"},
		{"all commented", "allow: # hosts\n  #- a.com\n", "allow: # hosts\n  - x.com\n  #- a.com\n"},
		{"no value, no line end", "allow:", "allow:\n  - x.com"},
		{"null", "allow: null # none\n", "allow: [x.com] # none\n"},
		{"tilde", "allow: ~\n", "allow: [x.com]\n"},
		{"no key", "memory: 512\n", "memory: 512\nallow:\n  - x.com\n"},
		{"no key, no line end", "memory: 512", "memory: 512\nallow:\n  - x.com\n"},
		{"no key, CRLF", "memory: 512\r\n", "memory: 512\r\nallow:\r\n  - x.com\r\n"},
		{"no key, indented", "  memory: 512\n", "  memory: 512\n  allow:\n    - x.com\n"},
		{"no key, flow", "{memory: 512}\n", "{allow: [x.com], memory: 512}\n"},
		{"flow root", "{allow: [a.com], memory: 512}\n", "{allow: [a.com, x.com], memory: 512}\n"},
		{"empty", "", "allow:\n  - x.com\n"},
		{"only comments", "# nothing\n", "# nothing\nallow:\n  - x.com\n"},
		{"byte order mark", "\ufeffallow: [a.com]\n", "\ufeffallow: [a.com, x.com]\n"},
	} {
		got, added, err := AddAllow("c", []byte(test.before), []string{"x.com"})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.after, string(got)); diff != "" || len(added) != 1 {
			t.Errorf("%s: added %v (-want +got):\n%s", test.name, added, diff)
		}
	}
}

func TestAddAllowSeveral(t *testing.T) {
	before := []byte("allow:\n  - a.com\n")
	got, added, err := AddAllow("c", before, []string{"a.com", "*.b.com", "[::1]:80", "10.0.0.1:80", "preset:go", "true.org", "1e3.com", "*.b.com"})
	want := "allow:\n  - a.com\n  - \"*.b.com\"\n  - \"[::1]:80\"\n  - 10.0.0.1:80\n  - preset:go\n  - true.org\n  - \"1e3.com\"\n"
	if err != nil || len(added) != 6 {
		t.Fatalf("added %v, %v", added, err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	again, added, err := AddAllow("c", got, []string{"a.com", "preset:go"})
	if err != nil || added != nil || string(again) != string(got) {
		t.Errorf("again: added %v, %v", added, err)
	}
}

func TestAddAllowRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		text, entry string
		kind        fault.Kind
		want        string
	}{
		"alias":     {"path: &p [/a]\nallow: *q\n", "x.com", fault.Config, "quotes"},
		"mistake":   {"alow: []\n", "x.com", fault.Config, "unknown key"},
		"loopback":  {"allow: ['127.0.0.1:80']\n", "[::1]:80", fault.Usage, "other loopback address"},
		"shared":    {"allow: &a []\npath: *a\n", "x.com", fault.Config, "cannot be extended"},
		"null doc":  {"null\n", "x.com", fault.Config, "cannot be extended"},
		"after end": {"memory: 512\n...\n", "x.com", fault.Config, "cannot be extended"},
	} {
		got, added, err := AddAllow("c", []byte(test.text), []string{test.entry})
		if err == nil || got != nil || added != nil {
			t.Errorf("%s: %q, %v, %v, want an error", name, got, added, err)
			continue
		}
		if text := err.Error() + fault.HintOf(err); !strings.Contains(text+hints(err), test.want) || fault.KindOf(err) != test.kind {
			t.Errorf("%s: %v (kind %d), want %q (kind %d)", name, text, fault.KindOf(err), test.want, test.kind)
		}
	}
}

func hints(err error) string {
	var m config.Mistakes
	if errors.As(err, &m) {
		return m[0].Hint + m[0].Text
	}
	return ""
}

// What was there stays: the result without some inserted run of bytes is the
// text, or one null became a list.
func FuzzAddAllow(f *testing.F) {
	f.Add(config.DefaultText())
	for _, s := range []string{"allow: [a.com, 'b.com'] # ]\n", "allow:\r\n- \"a.\\\r\n  com\"\r\n", "{}", "allow: &a ~", "\ufeff  cpus: 2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, added, err := AddAllow("c", text, []string{"x.com"})
		if err != nil {
			return
		}
		if _, err := config.Parse("c", got); err != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		if len(added) == 0 {
			return
		}
		head, tail := 0, 0
		for head < len(text) && head < len(got) && text[head] == got[head] {
			head++
		}
		for tail < len(text)-head && tail < len(got)-head && text[len(text)-1-tail] == got[len(got)-1-tail] {
			tail++
		}
		if lost := string(text[head : len(text)-tail]); lost != "" && !strings.Contains("~ null Null NULL", lost) {
			t.Errorf("%q became %q and lost %q", text, got, lost)
		}
	})
}
