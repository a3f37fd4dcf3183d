package terminal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"
)

// tty is the user's terminal in raw mode.
type tty struct {
	in         *os.File
	out        io.Writer
	saved      *term.State
	undoOutput func()

	mu    sync.Mutex
	modes *modes
	over  bool
}

// size of a terminal in characters.
type size struct{ columns, rows uint32 }

func openTTY(in *os.File, out io.Writer) (*tty, error) {
	saved, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("put the terminal into raw mode: %w", err)
	}
	return &tty{in: in, out: out, saved: saved, undoOutput: prepareOutput(out), modes: newModes()}, nil
}

// Write passes output on and follows the modes it sets.
func (t *tty) Write(p []byte) (int, error) {
	t.mu.Lock()
	if t.over {
		t.mu.Unlock()
		return len(p), nil
	}
	t.modes.follow(p)
	t.mu.Unlock()
	return t.out.Write(p)
}

// restore brings the terminal back to where openTTY found it. It waits for
// output at most FlushGrace.
func (t *tty) restore(failed bool) {
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

// size asks the terminal, and believes in 80 by 24 if it does not know.
func (t *tty) size() size {
	for _, f := range []any{t.out, t.in} {
		if f, ok := f.(*os.File); ok {
			if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
				return size{uint32(w), uint32(h)}
			}
		}
	}
	return size{80, 24}
}

// watchSize calls changed whenever the size is another than the last, until stop.
func (t *tty) watchSize(last size, changed func(size)) (stop func()) {
	events, stopEvents := sizeEvents()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if now := t.size(); now != last {
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
	timer := time.NewTimer(FlushGrace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}

func marshalSize(z size) []byte {
	return ssh.Marshal(windowChange{Columns: z.columns, Rows: z.rows})
}
