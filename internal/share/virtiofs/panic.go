package virtiofs

import (
	"bufio"
	"io"
	"regexp"
	"sync/atomic"

	"aibox/internal/plain"
)

// panicked is the line before the reason of a panic, as Rust prints it.
var panicked = regexp.MustCompile(`^thread '.*' panicked at `)

// panicWatch ends a server of which a thread panicked: the process of such a
// server lives on and answers nothing, so all that the VM does would hang.
type panicWatch struct{ reason atomic.Pointer[string] }

// read reads the server's standard error to its end and calls kill at a panic.
func (w *panicWatch) read(stderr io.ReadCloser, kill func()) {
	defer stderr.Close()
	in := bufio.NewReader(stderr)
	for {
		line, more, err := in.ReadLine()
		if err != nil {
			return
		}
		if !more && panicked.Match(line) {
			reason, _, _ := in.ReadLine()
			text := plain.Line(string(reason))
			w.reason.Store(&text)
			kill()
		}
	}
}
