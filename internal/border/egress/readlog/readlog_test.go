package readlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aibox/internal/border/egress/record"
	"aibox/internal/border/egress/route"
)

func TestRefusedReadsWhatARecorderWrites(t *testing.T) {
	var log strings.Builder
	r := record.New(&log, func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) })
	r.Connect("a.example:443")
	r.Refuse(route.Refusal{Target: "b.example:443", Text: "b.example:443 is not in the allow list: refused"})
	r.Refuse(route.Refusal{Target: "[fd00::1]:80", Text: "no"})
	r.Refuse(route.Refusal{Target: "evil\nrefused c.example:1: x", Text: "no"})
	r.Fail("d.example:443")
	r.Refuse(route.Refusal{Target: "b.example:443", Text: "again"})
	r.Close()
	if diff := cmp.Diff([]string{"b.example:443", "[fd00::1]:80"}, Refused(strings.NewReader(log.String()))); diff != "" {
		t.Errorf("%s\nof\n%s", diff, log.String())
	}
}

func TestRefusedIsBounded(t *testing.T) {
	if got := Refused(strings.NewReader(strings.Repeat("z", maxLine+1) + "\nx refused a:1: b\n")); got != nil {
		t.Errorf("behind a line of %d bytes: %v", maxLine+1, got)
	}
	var many strings.Builder
	for i := range maxHosts + 1 {
		fmt.Fprintf(&many, "x refused h%d:1: b\n", i)
	}
	if got := Refused(strings.NewReader(many.String())); len(got) != maxHosts {
		t.Errorf("%d hosts", len(got))
	}
}

func FuzzRefused(f *testing.F) {
	f.Add("2030-01-02T03:04:07Z refused b.example:443: no\n")
	f.Add("x refused : y\n refused a: \nrefused\n")
	f.Fuzz(func(t *testing.T, log string) {
		seen := map[string]bool{}
		for _, target := range Refused(strings.NewReader(log)) {
			if target == "" || seen[target] || strings.ContainsAny(target, " \n") || !strings.Contains(log, " refused "+target+": ") {
				t.Errorf("%q of %q", target, log)
			}
			seen[target] = true
		}
	})
}
