package bwrap

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"aibox/internal/proc"
)

// Try makes a sandbox with nothing in it but a program that ends at once. Its
// error is that of a start on a machine that does not let users make sandboxes.
func Try(ctx context.Context) error {
	path, err := Find()
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("find bubblewrap: %w", err)
	}
	s := Sandbox{Program: real, Args: []string{"--version"}, Held: []Bind{{Source: real, Dest: real}}}
	if s.Binds, s.LibraryPath, err = Libraries(ctx, real); err != nil {
		return err
	}
	p, err := s.Start(path, "bubblewrap", &proc.Handover{}, nil)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
		return Explain(p.Err())
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("try bubblewrap: %w", context.Cause(ctx))
	}
}

// Version returns what the bubblewrap at path says of itself.
func Version(ctx context.Context, path string) (string, error) {
	out, err := proc.Output(ctx, proc.Cmd{Name: "bubblewrap", Path: path, Args: []string{"--version"}})
	if err != nil {
		return "", fmt.Errorf("ask bubblewrap for its version: %w", err)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out), "bubblewrap ")), nil
}
