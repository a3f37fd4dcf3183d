package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aibox/internal/border/egress/route"
)

func TestRecorderWritesEachHostOnceAndASummary(t *testing.T) {
	var log strings.Builder
	clock := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	r := New(&log, func() time.Time { clock = clock.Add(time.Second); return clock })
	r.Connect("a.example:443")
	r.Refuse(route.Refusal{Target: "b.example:443", Text: "aibox: no\x1b[31m"})
	r.Connect("a.example:443")
	r.Fail("c.example:443")
	r.Refuse(route.Refusal{Target: "b.example:443", Text: "aibox: no"})
	r.Close()
	r.Connect("late.example:443")
	want := `2030-01-02T03:04:06Z connected a.example:443
2030-01-02T03:04:07Z refused b.example:443: aibox: no?[31m
2030-01-02T03:04:09Z failed c.example:443
2030-01-02T03:04:11Z summary connected a.example:443, 2 times, last 2030-01-02T03:04:08Z
2030-01-02T03:04:11Z summary refused b.example:443, 2 times, last 2030-01-02T03:04:10Z
2030-01-02T03:04:11Z summary failed c.example:443, 1 times, last 2030-01-02T03:04:09Z
`
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Error(diff)
	}
	if got := r.Reached(); len(got) != 2 || got[0].Target != "a.example:443" || got[0].Count != 2 {
		t.Errorf("Reached = %v", got)
	}
}

func TestRecorderCannotBeFilled(t *testing.T) {
	var log strings.Builder
	r := New(&log, time.Now)
	for i := range 3 * maxLogged {
		long := strings.Repeat("a", 5000)
		r.Refuse(route.Refusal{Target: fmt.Sprint("host", i, "\nforged ", long), Text: long})
		r.Connect(fmt.Sprint("host", i, long))
	}
	r.Close()
	if lines := strings.Count(log.String(), "\n"); lines != 2*(maxLogged+1)+2*(maxLogged+1) {
		t.Errorf("%d lines", lines)
	}
	if log.Len() > 5<<20 {
		t.Errorf("%d bytes", log.Len())
	}
	if strings.Contains(log.String(), "\nforged") {
		t.Error("a host's text made a line of its own")
	}
	if !strings.Contains(log.String(), "summary refused others, 2000 times") {
		t.Error("no count of what was not logged")
	}
	first, more := r.Refused()
	if len(first) != maxRefusals || more != 3*maxLogged-maxRefusals {
		t.Errorf("Refused: %d and %d more", len(first), more)
	}
}
