package run

import (
	"maps"
	"strings"
	"testing"
)

func TestSessionEnv(t *testing.T) {
	for _, c := range []struct{ have, want map[string]string }{
		{nil, map[string]string{"TERM": "dumb"}},
		{map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "de_DE.UTF-8", "SECRET": "x"},
			map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "de_DE.UTF-8"}},
		{map[string]string{"TERM": "a@b", "COLORTERM": "", "LANG": "C\n"}, map[string]string{"TERM": "dumb"}},
		{map[string]string{"TERM": strings.Repeat("x", 65), "LANG": "../x"}, map[string]string{"TERM": "dumb"}},
	} {
		got := sessionEnv(func(name string) (string, bool) { v, ok := c.have[name]; return v, ok })
		if !maps.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.have, got, c.want)
		}
	}
}

func TestParseLastSession(t *testing.T) {
	const id = "0c9f4f0e-1c55-4f40-8d3c-3b1f6c2b7a11"
	for out, want := range map[string]string{
		"1700000000.1 " + id + ".jsonl\n": id,
		"":                                "", "x": "", "1 " + id + ".jsonl; rm -rf\n": "", "1 \x1b[31m.jsonl": "", "1 ../" + id + ".jsonl": "",
	} {
		if got := parseLastSession(out); got != want {
			t.Errorf("parseLastSession(%q) = %q, want %q", out, got, want)
		}
	}
}
