package demo

import (
	"fmt"
	"strings"
	"testing"
)

func TestUnifiedDiff(t *testing.T) {
	var twenty strings.Builder
	for i := range 20 {
		fmt.Fprintln(&twenty, i+1)
	}
	far := strings.Replace(strings.Replace(twenty.String(), "2\n", "two\n", 1), "\n18\n", "\n", 1)
	for _, c := range []struct{ name, old, new, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"changed", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"added at the end", "a\n", "a\nb\n", "@@ -1,1 +1,2 @@\n a\n+b\n"},
		{"emptied", "a\n", "", "@@ -1,1 +1,0 @@\n-a\n"},
		{"two hunks", twenty.String(), far,
			"@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -15,6 +15,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n"},
		{"terminal codes", "a\n", "\x1b[2J\n", "@@ -1,1 +1,1 @@\n-a\n+?[2J\n"},
	} {
		want := c.want
		if want != "" {
			want = "--- a/f\n+++ b/f\n" + want
		}
		if got := unifiedDiff("f", []byte(c.old), []byte(c.new)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
	}
	if got := unifiedDiff("f", []byte(strings.Repeat("a\n", maxDiffLines+1)), nil); got != "f has too many lines to compare\n" {
		t.Errorf("too many lines: %q", got)
	}
}
