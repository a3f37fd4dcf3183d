package plain

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "hello, wörld ✓", "hello, wörld ✓"},
		{"escape", "a\x1b[31mred", "a?[31mred"},
		{"c1", "a\u009b31m", "a?31m"},
		{"lines", "a\r\nb\vc\u2028d", "a??b?c?d"},
		{"tab", "a\tb", "a b"},
		{"bidi", "a\u202eb\u2066c", "a?b?c"},
		{"zero width", "a\u200bb", "a?b"},
		{"not utf-8", "a\xff\xc0b", "a??b"},
		{"replacement itself", "a\ufffdb", "a\ufffdb"},
		{"no-break space", "a\u00a0b", "a?b"},
		{"nul", "a\x00", "a?"},
	} {
		if got := Line(c.in); got != c.want {
			t.Errorf("%s: Line(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
	if got := Line(strings.Repeat("ä", MaxLine)); len(got) > MaxLine+len("…") || !strings.HasSuffix(got, "…") {
		t.Errorf("long line: %d bytes", len(got))
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b]0;t\x07")
	f.Add("\xff\u202e\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\x1b\u009b") || len(got) > MaxLine+len("…") {
			t.Errorf("Line(%q) = %q", s, got)
		}
		if again := Line(got); again != got && !strings.HasSuffix(got, "…") {
			t.Errorf("not idempotent: %q, %q", got, again)
		}
	})
}
