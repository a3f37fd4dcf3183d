package run

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"aibox/internal/plain"
)

const maxNotes = 20

// notes is a log handler that keeps the first warnings for the end of the run:
// while a session has the terminal nothing else may write to it.
type notes struct {
	mu    sync.Mutex
	first []string
}

func (n *notes) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (n *notes) Handle(_ context.Context, r slog.Record) error {
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

func (n *notes) WithAttrs([]slog.Attr) slog.Handler { return n }
func (n *notes) WithGroup(string) slog.Handler      { return n }

func (n *notes) lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first
}
