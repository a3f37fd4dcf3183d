//go:build !vm

package vm

import (
	"os"
	"strings"
	"testing"
)

// TestDifferencesAreDocumented wants a row of the document for each known difference.
func TestDifferencesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/shares.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(differences()) < 10 {
		t.Errorf("only %d differences", len(differences()))
	}
	for name, d := range differences() {
		if !strings.Contains(string(text), "\n| "+d.topic+" |") {
			t.Errorf("%s: docs/shares.md has no row %q", name, d.topic)
		}
		if d.virtiofs == "" && d.ninep == "" {
			t.Errorf("%s: no difference", name)
		}
	}
}
