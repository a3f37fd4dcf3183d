package notes

import (
	"log/slog"
	"testing"
)

func TestNotesKeepsTheFirstWarningsPrintable(t *testing.T) {
	n := &Notes{}
	log := slog.New(n)
	log.Info("not this")
	log.Warn("the VM said", "what", "\x1b[31mred\nline")
	for range 2 * maxNotes {
		log.Error("more")
	}
	lines := n.Lines()
	if len(lines) != maxNotes {
		t.Fatalf("%d lines, want %d", len(lines), maxNotes)
	}
	if want := `the VM said what=?[31mred?line`; lines[0] != want {
		t.Errorf("line %q, want %q", lines[0], want)
	}
}
