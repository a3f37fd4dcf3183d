package work

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOutcomeAmongMessages finds the line between what a kernel prints.
func TestOutcomeAmongMessages(t *testing.T) {
	want := Outcome{Results: Results{"9p/untar": 1.5}, Failed: map[string]string{"diod": "mount: no such device"}}
	var b strings.Builder
	b.WriteString("[    0.1] starting")
	if err := want.Print(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("[    9.9] reboot: Restarting system\n")
	got, err := Parse(b.String())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := Parse("[    0.1] panic\n"); err == nil {
		t.Error("a VM that said nothing has an outcome")
	}
}
