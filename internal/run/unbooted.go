package run

import (
	"errors"
	"io"
	"os"
	"strings"

	"aibox/internal/border/control"
	"aibox/internal/fault"
	"aibox/internal/plain"
)

// maxConsoleEnd bounds how much of the console is read for its last line.
const maxConsoleEnd = 4 << 10

// errSlow is the cause of the end of a VM that took too long.
var errSlow = errors.New("the VM did not boot")

// unbooted explains the end of a VM that gave no reason before it had booted: by
// the last line of its console, where there is one.
func (b *box) unbooted(err error, ended bool) error {
	hint := "if the image's kernel is damaged, build it again: make image; or name another one: --image DIR"
	switch {
	case errors.Is(err, errSlow): // it was killed for that
		hint = "this machine may be too busy; " + hint
	case ended:
		err = errors.New("the VM ended before it had booted")
	}
	if failed := (*fault.Error)(nil); errors.As(err, &failed) {
		return err
	}
	log := b.p.logs.ConsoleLog()
	b.machine.Kill() // so that the console is complete
	line := lastLine(b.p.console)
	if line == "" {
		return fault.New(fault.Failed, hint, "%w, and its console is empty", err)
	}
	hint = "the VM's console is in " + fault.ShellQuote(log)
	if failed := (*control.FailedError)(nil); errors.As(err, &failed) {
		hint += "; what an earlier session left in the VM's home and disk is cleared by: aibox projects reset"
	}
	return fault.New(fault.Failed, hint, "%w; the last line of its console: %s", err, line)
}

// lastLine returns the last line with text of a log that the VM fills, printable,
// or "".
func lastLine(f *os.File) string {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	text := make([]byte, min(end, maxConsoleEnd))
	n, _ := f.ReadAt(text, end-int64(len(text))) // a shorter text is as good
	lines := strings.Split(strings.TrimSpace(string(text[:n])), "\n")
	return plain.Line(strings.TrimSpace(lines[len(lines)-1]))
}
