package tty

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

// sizePeriod is how often the size is asked for: the console sends no signal.
const sizePeriod = 500 * time.Millisecond

// consoleInput is how many bytes of keys are read at once.
const consoleInput = 4 << 10

// prepareOutput makes the console read control sequences.
func prepareOutput(out io.Writer) (undo func()) {
	f, ok := out.(*os.File)
	if !ok {
		return func() {}
	}
	handle := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return func() {}
	}
	_ = windows.SetConsoleMode(handle, mode|windows.ENABLE_PROCESSED_OUTPUT|
		windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|windows.DISABLE_NEWLINE_AUTO_RETURN)
	return func() { _ = windows.SetConsoleMode(handle, mode) }
}

func sizeEvents() (events <-chan time.Time, stop func()) {
	t := time.NewTicker(sizePeriod)
	return t.C, t.Stop
}

// stoppable reads f in a goroutine that stop leaves behind, since nothing ends
// a console's Read: it takes one more key after the session's end.
func stoppable(f *os.File) (r io.Reader, stop func(), err error) {
	c := &consoleReader{pieces: make(chan piece), done: make(chan struct{})}
	go c.fill(f)
	var once sync.Once
	return c, func() { once.Do(func() { close(c.done) }) }, nil
}

type consoleReader struct {
	pieces chan piece
	done   chan struct{}
	rest   piece
}

type piece struct {
	b   []byte
	err error
}

func (c *consoleReader) fill(f *os.File) {
	for {
		b := make([]byte, consoleInput)
		n, err := f.Read(b)
		select {
		case c.pieces <- piece{b[:n], err}:
		case <-c.done:
			return
		}
		if err != nil {
			return
		}
	}
}

func (c *consoleReader) Read(p []byte) (int, error) {
	if len(c.rest.b) == 0 && c.rest.err == nil {
		select {
		case c.rest = <-c.pieces:
		case <-c.done:
			return 0, ErrStopped
		}
	}
	n := copy(p, c.rest.b)
	c.rest.b = c.rest.b[n:]
	if len(c.rest.b) > 0 {
		return n, nil
	}
	return n, c.rest.err
}
