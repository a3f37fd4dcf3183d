package tty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Terminal is the user's terminal in raw mode, from Open to Restore.
type Terminal struct {
	in         *os.File
	out        io.Writer
	saved      *term.State
	undoOutput func()

	mu    sync.Mutex
	modes *modes
	over  bool
}

// Input returns the terminal's keys as a reader that can be stopped: its Read
// returns ErrStopped then, and keys that come later are left for the shell (on
// Windows one is lost).
func (t *Terminal) Input() (r io.Reader, stop func(), err error) { return stoppable(t.in) }

// ErrStopped is what the reader of Input returns after stop.
var ErrStopped = errors.New("input stopped")

// Size is a terminal's in characters.
type Size struct{ Columns, Rows uint32 }

// IsTerminal tells whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Open puts the terminal in into raw mode. Output goes to out, which is the same
// terminal as a rule.
func Open(in *os.File, out io.Writer) (*Terminal, error) {
	saved, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("put the terminal into raw mode: %w", err)
	}
	return &Terminal{in: in, out: out, saved: saved, undoOutput: prepareOutput(out), modes: newModes()}, nil
}

// Write passes output on and follows the modes it sets.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	if t.over {
		t.mu.Unlock()
		return len(p), nil
	}
	t.modes.follow(p)
	t.mu.Unlock()
	return t.out.Write(p)
}

// Restore brings the terminal back to where Open found it: its state, and the
// modes that the output left on. After a failed session it also ends colours and
// half a line and drops unread input. Later output is dropped. Restore waits for
// a terminal that takes no output at most Patience.
func (t *Terminal) Restore(failed bool) {
	defer func() {
		t.undoOutput()
		if failed {
			dropInput(t.in) // mouse reports and the like would reach the shell
		}
		_ = term.Restore(int(t.in.Fd()), t.saved)
	}()
	t.mu.Lock()
	t.over = true
	text := t.modes.restore()
	if failed {
		text = append(text, t.modes.afterFailure()...)
	}
	t.mu.Unlock()
	if len(text) == 0 {
		return
	}
	written := make(chan struct{})
	go func() {
		_, _ = t.out.Write(text)
		close(written)
	}()
	awaitBriefly(written)
}

// Size asks the terminal, and believes in 80 by 24 if it does not know.
func (t *Terminal) Size() Size {
	for _, f := range []any{t.out, t.in} {
		if f, ok := f.(*os.File); ok {
			if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
				return Size{uint32(w), uint32(h)}
			}
		}
	}
	return Size{80, 24}
}

// WatchSize calls changed whenever the size is another than the last, until
// stop, which waits for a call of changed at most Patience.
func (t *Terminal) WatchSize(last Size, changed func(Size)) (stop func()) {
	events, stopEvents := sizeEvents()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if now := t.Size(); now != last {
				last = now
				changed(now)
			}
			select {
			case <-events:
			case <-done:
				return
			}
		}
	}()
	return func() {
		stopEvents()
		close(done)
		awaitBriefly(ended)
	}
}

// awaitBriefly waits for the end of something that is free to go, but may hang
// on a terminal or a link that takes nothing.
func awaitBriefly(ended <-chan struct{}) {
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}
