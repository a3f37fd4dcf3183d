package proc

import (
	"io"
	"os"
	"strings"
	"sync"

	"aibox/internal/plain"
)

// TailSize is how much of a program's standard error is kept, in bytes.
const TailSize = 32 << 10

// tail keeps the last TailSize bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// readFrom reads r to its end, or until it is closed, and copies all to tee.
func (t *tail) readFrom(r io.Reader, tee *os.File) {
	b := make([]byte, 4096)
	for {
		n, err := r.Read(b)
		t.add(b[:n])
		if tee != nil && n > 0 {
			if _, werr := tee.Write(b[:n]); werr != nil {
				tee = nil // a full disk must not stop the program
			}
		}
		if err != nil {
			return
		}
	}
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - TailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// lastLine returns the last line that is not blank, printable.
func (t *tail) lastLine() string {
	lines := strings.Split(t.String(), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return plain.Line(line)
		}
	}
	return ""
}
