package bwrap

import (
	"context"
	"testing"

	"aibox/internal/fault"
)

func TestTry(t *testing.T) {
	path, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if err := Try(t.Context()); err != nil {
		t.Errorf("Try: %v", err)
	}
	if v, err := Version(t.Context(), path); err != nil || v == "" {
		t.Errorf("Version = %q, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Try(ctx); err == nil {
		t.Error("a cancelled context was ignored")
	}
	t.Setenv("PATH", t.TempDir())
	if err := Try(t.Context()); fault.KindOf(err) != fault.Machine {
		t.Errorf("without bubblewrap: %v", err)
	}
}
