package seccomp

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocs holds docs/confinement.md to the lists of calls. Run it with
// UPDATE_DOCS=1 to rewrite them there.
func TestDocs(t *testing.T) {
	const path = "../../../docs/confinement.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for mark, calls := range map[string][]string{"main": Calls(variants()["main"]), "lethal": Lethal(Options{})} {
		want := "<!-- calls:" + mark + " -->\n" + wrap(calls)
		place := regexp.MustCompile(`<!-- calls:` + mark + ` -->\n(?:.+\n)*`)
		if !place.MatchString(text) {
			t.Fatalf("no place for the %s calls", mark)
		}
		if os.Getenv("UPDATE_DOCS") != "" {
			text = place.ReplaceAllString(text, want)
		} else if place.FindString(text) != want {
			t.Errorf("the %s calls in %s are not the filter's; UPDATE_DOCS=1 writes them", mark, path)
		}
	}
	if text != string(b) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// wrap makes lines of at most 120 characters.
func wrap(words []string) string {
	var b strings.Builder
	column := 0
	for i, w := range words {
		if i > 0 && column+1+len(w) > 118 {
			b.WriteByte('\n')
			column = 0
		} else if i > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String() + "\n"
}
