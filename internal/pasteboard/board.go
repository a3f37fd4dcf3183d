package pasteboard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"aibox/internal/plain"
	"aibox/internal/proc"
)

// Board is a running helper. It is safe for concurrent use.
type Board struct {
	helper *proc.Process

	mu      sync.Mutex // held for one question and its answer
	in, out *os.File
	answers *bufio.Reader
	broken  error
}

// setup is the helper's first message.
type setup struct {
	Programs []Program
	Lax      bool
}

// Start starts the helper with at least one program. lax is jail.Policy.Lax.
func Start(programs []Program, lax bool) (*Board, error) {
	if selfPath == "" {
		return nil, fmt.Errorf("read the clipboard: not yet on %s", runtime.GOOS)
	}
	message, err := json.Marshal(setup{programs, lax})
	if err != nil {
		return nil, err
	}
	if len(message) >= maxSetup {
		return nil, fmt.Errorf("start the clipboard helper: the environment is too large")
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer childOut.Close()
	b := &Board{in: in, out: out, answers: bufio.NewReader(out)}
	b.helper, err = proc.Start(proc.Cmd{
		Name: "clipboard helper", Path: selfPath, Args: []string{Command},
		Env: []string{"LANG=C", "PATH=/usr/bin:/bin"}, Stdin: childIn, Stdout: childOut,
	})
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	if err := b.begin(message); err != nil {
		b.Kill()
		return nil, err
	}
	return b, nil
}

// begin waits until the helper has confined itself.
func (b *Board) begin(message []byte) error {
	_ = b.in.SetWriteDeadline(time.Now().Add(slack))
	_ = b.out.SetReadDeadline(time.Now().Add(slack))
	if _, err := b.in.Write(append(message, '\n')); err != nil {
		return fmt.Errorf("start the clipboard helper: %w", err)
	}
	if _, err := b.read(0); err != nil {
		return fmt.Errorf("start the clipboard helper: %w", err)
	}
	return nil
}

// Kill ends the helper and what it started.
func (b *Board) Kill() {
	b.helper.Kill()
	b.in.Close()
	b.out.Close()
}

// PID is the helper's process id.
func (b *Board) PID() int { return b.helper.PID() }

// Types lists the types of what is on the clipboard.
func (b *Board) Types(ctx context.Context) ([]string, error) {
	answer, err := b.ask(ctx, "types", listTime, maxTypes)
	return strings.Fields(string(answer)), err
}

// Image returns what is on the clipboard as the type kind, at most MaxImage bytes.
func (b *Board) Image(ctx context.Context, kind string) ([]byte, error) {
	if strings.ContainsAny(kind, "\n\x00") || len(kind) > maxQuery/2 {
		return nil, fmt.Errorf("read the clipboard: %q is no type", kind)
	}
	return b.ask(ctx, "image "+kind, imageTime, MaxImage)
}

// ask puts one question. A helper that does not answer in time is of no more use.
func (b *Board) ask(_ context.Context, question string, limit time.Duration, size int) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return nil, b.broken
	}
	// the helper may try each of two programs for the time
	deadline := time.Now().Add(2*limit + slack)
	_ = b.in.SetWriteDeadline(deadline)
	_ = b.out.SetReadDeadline(deadline)
	if _, err := b.in.WriteString(question + "\n"); err != nil {
		b.broken = fmt.Errorf("ask the clipboard helper: %w", err)
		return nil, b.broken
	}
	answer, err := b.read(size)
	if said := (*saidError)(nil); err != nil && !errors.As(err, &said) {
		b.broken = fmt.Errorf("ask the clipboard helper: %w", err)
		return nil, b.broken
	}
	return answer, err
}

// saidError is an answer of the helper that something failed.
type saidError struct{ text string }

func (e *saidError) Error() string { return "read the clipboard: " + e.text }

// read reads "ok SIZE" and as many bytes, or "no REASON".
func (b *Board) read(limit int) ([]byte, error) {
	head, err := b.answers.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	verdict, rest, _ := strings.Cut(string(head[:len(head)-1]), " ")
	if verdict != "ok" {
		return nil, &saidError{plain.Line(rest)}
	}
	size, err := strconv.Atoi(rest)
	if err != nil || size < 0 || size > limit {
		return nil, fmt.Errorf("an answer of %q bytes", rest)
	}
	answer := make([]byte, size)
	_, err = io.ReadFull(b.answers, answer)
	return answer, err
}
