package build

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

// command is one run of an external program.
type command struct {
	dir    string
	env    []string // beside the caller's environment
	stdin  io.Reader
	stdout io.Writer // nil: into the log
	args   []string
}

// CommandError is the failure of an external program with what it said.
type CommandError struct {
	Program string
	Tail    []string // the last lines of its output, printable
	Log     string   // the file with all of it
	Err     error
}

func (e *CommandError) Error() string { return fmt.Sprintf("%s: %v", e.Program, e.Err) }

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

// tools runs external programs; their output goes into one log file.
type tools struct {
	log    *os.File
	onLine func()
}

// run runs c to its end. An interrupt of ctx stops the program and what it
// started.
func (t *tools) run(ctx context.Context, c command) error {
	fmt.Fprintf(t.log, "$ %s\n", strings.Join(c.args, " "))
	tail := &tail{log: t.log, onLine: t.onLine}
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	ownGroup(cmd)
	cmd.WaitDelay = stopGrace
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, c.stdin, c.stdout, tail
	if c.stdout == nil {
		cmd.Stdout = tail
	}
	// Messages are searched and shown, so they are not translated.
	cmd.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8"), c.env...)
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.Machine, "install what the build needs: make setup", "%s is not installed", c.args[0])
	}
	return tail.explain(&CommandError{filepath.Base(c.args[0]), tail.lines, t.log.Name(), err})
}

// output is run for a program whose standard output is the answer.
func (t *tools) output(ctx context.Context, c command) (string, error) {
	var out bytes.Buffer
	c.stdout = &out
	err := t.run(ctx, c)
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
func (t *tail) explain(err *CommandError) error {
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
