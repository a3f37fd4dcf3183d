// Package notes keeps what is logged while a session has the terminal, which
// nothing else may write to, for the end of the run.
package notes

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"aibox/internal/plain"
)

const maxNotes = 20

// Notes is a log handler that keeps the first warnings as printable lines. The
// zero value is ready, and it is safe for concurrent use.
type Notes struct {
	mu    sync.Mutex
	first []string
}

// Enabled implements slog.Handler.
func (n *Notes) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (n *Notes) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line.WriteString(" " + a.String())
		return true
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.first) < maxNotes {
		n.first = append(n.first, plain.Line(line.String()))
	}
	return nil
}

// WithAttrs implements slog.Handler; attributes of a logger are dropped.
func (n *Notes) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup implements slog.Handler; groups are dropped.
func (n *Notes) WithGroup(string) slog.Handler { return n }

// Lines returns what was kept.
func (n *Notes) Lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first
}
