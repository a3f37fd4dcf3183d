//go:build unix

package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
)

// Ctrl+C in an editor reaches aibox too. It must not end the editing.
func TestInterruptBelongsToTheEditor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("memory: 512\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	editor := fmt.Sprintf("kill -INT %d && kill -INT %d && true", os.Getpid(), os.Getpid())
	if err := testApp(t).edit(ctx, editor, path); err != nil {
		t.Errorf("edit: %v", err)
	}
	if ctx.Err() == nil {
		t.Error("the interrupt never came, so nothing was tested")
	}
}
