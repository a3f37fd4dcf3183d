package report

import (
	"strings"
	"testing"
)

func TestMedianAndSpread(t *testing.T) {
	s := Series{5, 1, 3, 2, 4}
	if got := s.Median(); got != 3 {
		t.Errorf("Median = %v, want 3", got)
	}
	if got := s.Spread(); got < 33 || got > 34 { // half of 4-2, of 3
		t.Errorf("Spread = %v, want 33%%", got)
	}
}

func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		ours, theirs Series
		goal         Goal
		want         string
	}{
		"less, met":        {Series{5}, Series{4}, AtMost(1.25), "met"},
		"less, missed":     {Series{6}, Series{4}, AtMost(1.25), "missed"},
		"more, met":        {Series{4}, Series{4}, AtLeast(1), "met"},
		"more, missed":     {Series{3}, Series{4}, AtLeast(1), "missed"},
		"no goal":          {Series{3}, Series{4}, Goal{}, ""},
		"no peer":          {Series{3}, nil, AtLeast(1), "not measured"},
		"nothing measured": {nil, Series{4}, AtMost(1), "not measured"},
	} {
		r := Row{Ours: c.ours}
		if got := r.verdict(Peer{Values: c.theirs, Goal: c.goal}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTableHidesNothing wants a peer that could not be had and a goal that was
// missed to be said.
func TestTableHidesNothing(t *testing.T) {
	text := Table([]Row{
		{Name: "boot", Unit: "s", Ours: Series{2}, Peers: []Peer{
			{Name: "floor", Values: Series{1}, Goal: AtMost(1.25), Rest: "It sleeps."},
			{Name: "rival", Absent: "no package", Goal: AtMost(2)},
		}},
		{Name: "size", Unit: "MB", Ours: Series{12.345}, Note: "on disk"},
	})
	for _, want := range []string{
		"| boot | 2.00 s | floor | 1.00 s | 2.00 | ≤ 1.25 | missed |",
		"| boot | 2.00 s | rival | not measured: no package | | ≤ 2.00 | not measured |",
		"| size | 12.3 MB | | | | | |",
		"- boot, beside floor: ratio 2.00, goal ≤ 1.25. It sleeps.",
		"- size: on disk",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}
