package tool

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"aibox/internal/fault"
)

func runner(t *testing.T) *Runner {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return &Runner{Log: log, OnLine: func() {}}
}

func shell(script string) Command { return Command{Args: []string{"/bin/sh", "-c", script}} }

func TestFailureCarriesTheLastLines(t *testing.T) {
	r := runner(t)
	lines := 0
	r.OnLine = func() { lines++ }
	err := r.Run(t.Context(), shell(`for i in $(seq 40); do echo line $i; done; printf '\033[31mlast'; exit 3`))
	failed := (*Error)(nil)
	if !errors.As(err, &failed) {
		t.Fatalf("Run is %v", err)
	}
	if want := []string{"line 39", "line 40", "?[31mlast"}; !slices.Equal(failed.Tail[len(failed.Tail)-3:], want) || len(failed.Tail) > tailLines+1 {
		t.Errorf("the tail is %q, want it to end in %q", failed.Tail, want)
	}
	if err.Error() != "sh: exit status 3" || failed.Log != r.Log.Name() || lines != 40 {
		t.Errorf("%q, log %s, %d lines", err, failed.Log, lines)
	}
	text, err := os.ReadFile(r.Log.Name())
	if err != nil || !strings.Contains(string(text), "line 1\n") || !strings.HasPrefix(string(text), "$ /bin/sh -c ") {
		t.Errorf("the log is %q, %v", text, err)
	}
}

func TestHints(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'write: No space left on device' >&2; exit 1": "XDG_CACHE_HOME",
		"echo 'newuidmap: not allowed' >&2; exit 1":         "make setup",
	} {
		err := runner(t).Run(t.Context(), shell(script))
		if !strings.Contains(fault.HintOf(err), want) || fault.KindOf(err) != fault.Machine {
			t.Errorf("%s: %v with the hint %q, want %q in it", script, err, fault.HintOf(err), want)
		}
	}
	err := runner(t).Run(t.Context(), Command{Args: []string{"no-such-program-of-aibox"}})
	if err == nil || err.Error() != "no-such-program-of-aibox is not installed" || fault.HintOf(err) == "" {
		t.Errorf("a missing program gives %v", err)
	}
}

func TestOutputIsTheAnswerAlone(t *testing.T) {
	got, err := runner(t).Output(t.Context(), shell("echo answer; echo noise >&2"))
	if err != nil || got != "answer\n" {
		t.Errorf("Output is %q, %v", got, err)
	}
}

// TestInterruptReachesGrandchildren waits for a pipe that every process of the
// group holds: it ends only when all are gone.
func TestInterruptReachesGrandchildren(t *testing.T) {
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	r := runner(t)
	r.OnLine = func() { close(started) }
	done := make(chan error)
	go func() {
		done <- r.Run(ctx, Command{Stdout: held, Args: []string{"/bin/sh", "-c", "sleep 1000 & echo ready >&2; wait"}})
	}()
	<-started
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run is %v, want context.Canceled", err)
	}
	held.Close()
	if _, err := io.ReadAll(alive); err != nil && !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}
