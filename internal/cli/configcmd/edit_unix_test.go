//go:build unix

package configcmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"aibox/internal/cli/console"
)

// Ctrl+C in an editor reaches aibox too. It must not end the editing.
func TestInterruptBelongsToTheEditor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("memory: 512\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // for good: one may come late
	editor := fmt.Sprintf("kill -INT %d && kill -INT %d && true", os.Getpid(), os.Getpid())
	if err := testConfigs(t).edit(ctx, editor, path); err != nil {
		t.Errorf("edit: %v", err)
	}
	<-ctx.Done() // the interrupt came, so something was tested
}

func testConfigs(t *testing.T) *Configs {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	nothing := func(string) (string, bool) { return "", false }
	return &Configs{Console: console.Console{In: null, Err: null, Lookup: nothing}, Terminal: null, Out: null}
}
