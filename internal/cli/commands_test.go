package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"aibox/internal/cli/exit"
	"aibox/internal/fault"

	"github.com/spf13/cobra"
)

func testApp(t *testing.T) *app {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	return newApp(Stdio{null, null, null}, machine{lookup: func(string) (string, bool) { return "", false }})
}

// Every command must explain itself: what it does, an example, its exit codes.
func TestEveryCommandIsExplained(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		if cmd.Short == "" || cmd.Long == "" || !strings.Contains(cmd.Example, "aibox") {
			t.Errorf("%s lacks a description or an example", cmd.CommandPath())
		}
		if codes := cmd.Annotations[exit.Annotation]; !strings.Contains(codes, "  0  ") || !strings.Contains(codes, "  2  ") || !strings.Contains(codes, "  130") {
			t.Errorf("%s has the exit codes %q", cmd.CommandPath(), codes)
		}
		for line := range strings.Lines(cmd.Long) {
			if len(line) > 96 {
				t.Errorf("%s: a line of its help is %d wide: %s", cmd.CommandPath(), len(line), line)
			}
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(testApp(t).root())
}

func TestEveryKindHasACodeOfItsOwn(t *testing.T) {
	seen := map[int]fault.Kind{}
	for k := fault.Failed; k <= fault.Refused; k++ {
		code, ok := exit.Codes()[k]
		if other, twice := seen[code]; !ok || twice || code < 1 || code >= 126 {
			t.Errorf("kind %d has the code %d (as kind %d, %v)", k, code, other, twice)
		}
		seen[code] = k
		if got := exit.Code(fault.New(k, "", "x")); got != code {
			t.Errorf("kind %d: exit code %d, want %d", k, got, code)
		}
	}
	if got := exit.Code(os.ErrInvalid); got != 1 {
		t.Errorf("an error without a kind: %d, want 1", got)
	}
	if got := exit.Code(context.Canceled); got != exit.Interrupted {
		t.Errorf("interrupted: %d, want %d", got, exit.Interrupted)
	}
}
