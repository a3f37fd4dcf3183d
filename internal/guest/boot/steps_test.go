package boot

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aibox/internal/wire"
)

// fake is a boot whose steps note that they ran.
type fake struct{ ran, warned []string }

func (f *fake) step(name string, err error, must bool) step {
	return step{name, func() error {
		f.ran = append(f.ran, name)
		return err
	}, must}
}

func (f *fake) run(steps ...step) ([]wire.Step, *failure) {
	clock := time.Unix(0, 0)
	now := func() time.Time {
		clock = clock.Add(5 * time.Millisecond)
		return clock
	}
	return runSteps(steps, now, func(line string) { f.warned = append(f.warned, line) })
}

func TestStepsRunInOrderAndStopAtTheFirstThatMust(t *testing.T) {
	var f fake
	took, failed := f.run(
		f.step("a", nil, true),
		f.step("b", errors.New("no\nmatter"), false),
		f.step("c", errors.New("broken"), true),
		f.step("d", nil, true),
	)
	if failed == nil || failed.step != "c" || failed.err.Error() != "broken" {
		t.Errorf("failed = %+v, want c: broken", failed)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, f.ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b: no matter"}, f.warned); diff != "" {
		t.Errorf("warned (-want +got):\n%s", diff)
	}
	want := []wire.Step{{Name: "a", Micros: 5000}, {Name: "b", Micros: 5000}, {Name: "c", Micros: 5000}}
	if diff := cmp.Diff(want, took); diff != "" {
		t.Errorf("took (-want +got):\n%s", diff)
	}
}

func TestPanicInAStepIsItsError(t *testing.T) {
	var f fake
	_, failed := f.run(step{"x", func() error { panic("index out of range") }, true})
	if failed == nil || failed.err.Error() != "bug: index out of range" {
		t.Errorf("failed = %+v", failed)
	}
}

func TestReport(t *testing.T) {
	f := failure{"state disk", errors.New("bad\nsuper\x1b[31mblock " + strings.Repeat("x", 2*maxReason))}
	var console, control bytes.Buffer
	report(f, &control, &console)
	line := strings.TrimPrefix(console.String(), "\n")
	if !strings.HasPrefix(line, wire.FailPrefix+"state disk: bad super [31mblock xxx") ||
		strings.Count(line, "\n") != 1 || len(line) > maxReason+100 {
		t.Errorf("console line %q", line)
	}
	var m wire.ToHost
	if err := wire.ReadMessage(&control, &m, wire.MaxToHost); err != nil || m.Failed == nil ||
		m.Failed.Step != "state disk" || !strings.HasPrefix(m.Failed.Reason, "bad super [31mblock") {
		t.Errorf("message %+v, %v", m.Failed, err)
	}
	console.Reset()
	report(f, nil, &console)
	if console.Len() == 0 {
		t.Error("without a link nothing was printed")
	}
}

func TestRestarts(t *testing.T) {
	for cmdline, want := range map[string]bool{
		"console=ttyS0 reboot=t panic=-1\n": true, "reboot=t": true,
		"": false, "reboot=triple": false, "xreboot=t": false,
	} {
		if got := restarts(cmdline); got != want {
			t.Errorf("restarts(%q) = %v", cmdline, got)
		}
	}
}

func TestUsersCannotFillTheMemoryForGood(t *testing.T) {
	const memory = 1 << 30
	var kib int
	for _, p := range kernelMounts(memory) {
		if p.flags&noSuid == 0 {
			t.Errorf("%s honours set-user-id bits", p.target)
		}
		if p.kind != "tmpfs" {
			continue
		}
		_, size, ok := strings.Cut(p.options, "size=")
		if !ok {
			t.Errorf("%s has no size", p.target)
		}
		if n, isKiB := strings.CutSuffix(size, "k"); isKiB {
			kib += atoi(t, n)
		}
	}
	_, runtime, _ := strings.Cut(runtimeOptions(memory, 1, 1), "size=")
	kib += atoi(t, strings.TrimSuffix(runtime, "k"))
	if limit := memory / 1024 * 9 / 10; kib > limit {
		t.Errorf("%d KiB of files in RAM, want at most %d", kib, limit)
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			t.Fatalf("%q is no number", s)
		}
		n = n*10 + int(c-'0')
	}
	return n
}
