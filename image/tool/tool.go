// Package tool runs external programs for the build of the image: their output
// goes to a log, an interrupt reaches all that they started, and a failure
// carries the last lines that they printed.
package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"aibox/internal/fault"
	"aibox/internal/plain"
)

const (
	// tailLines is how much of a failed program's output is shown.
	tailLines = 15

	// stopGrace is how long an interrupted program may clean up.
	stopGrace = 15 * time.Second
)

// Command is one run of an external program.
type Command struct {
	Dir    string
	Env    []string // beside the caller's environment
	Stdin  io.Reader
	Stdout io.Writer // nil: into the log
	Args   []string
}

// Error is the failure of an external program with what it said.
type Error struct {
	Program string
	Tail    []string // the last lines of its output, printable
	Log     string   // the file with all of it; empty if it is gone
	Err     error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Program, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Runner runs external programs; their output goes into one log file.
type Runner struct {
	Log    *os.File
	OnLine func() // called for each line; from another goroutine
}

// Run runs c to its end. An interrupt of ctx stops the program and what it
// started.
func (r *Runner) Run(ctx context.Context, c Command) error {
	fmt.Fprintf(r.Log, "$ %s\n", strings.Join(c.Args, " "))
	tail := &tail{log: r.Log, onLine: r.OnLine}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	ownGroup(cmd)
	cmd.WaitDelay = stopGrace
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, c.Stdin, c.Stdout, tail
	if c.Stdout == nil {
		cmd.Stdout = tail
	}
	// Messages are searched and shown, so they are not translated.
	cmd.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8"), c.Env...)
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.Machine, "install what the build needs: make setup", "%s is not installed", c.Args[0])
	}
	return tail.explain(&Error{filepath.Base(c.Args[0]), tail.lines, r.Log.Name(), err})
}

// Output is Run for a program whose standard output is the answer.
func (r *Runner) Output(ctx context.Context, c Command) (string, error) {
	var out bytes.Buffer
	c.Stdout = &out
	err := r.Run(ctx, c)
	return out.String(), err
}

// tail logs what is written to it and keeps the last lines.
type tail struct {
	log    io.Writer
	onLine func()

	mu    sync.Mutex // guards what follows
	part  []byte
	lines []string
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := text; ; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		t.part = append(t.part, line...)
		if !whole {
			break
		}
		t.lines = append(t.lines, plain.Line(string(t.part)))
		t.lines = t.lines[max(0, len(t.lines)-tailLines):]
		t.part, rest = t.part[:0], after
		t.onLine()
	}
	return t.log.Write(text)
}

// explain adds the hint for a failure that has one.
func (t *tail) explain(err *Error) error {
	if len(t.part) > 0 {
		err.Tail = append(err.Tail, plain.Line(string(t.part)))
	}
	for _, line := range err.Tail {
		switch {
		case strings.Contains(line, "No space left on device"):
			return fault.New(fault.Machine, "free some space, or set XDG_CACHE_HOME (cache) or TMPDIR (packages) to a larger disk", "%w", err)
		case strings.Contains(line, "/etc/subuid"), strings.Contains(line, "newuidmap"):
			return fault.New(fault.Machine, "run `make setup`: an ordinary user needs the package uidmap and a range in /etc/subuid and /etc/subgid", "%w", err)
		}
	}
	return err
}
