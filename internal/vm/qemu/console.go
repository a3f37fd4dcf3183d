package qemu

import (
	"fmt"
	"io"
	"os"
	"strings"

	"aibox/internal/plain"
	"aibox/internal/wire"
)

// Limits of the console file: a VM cannot fill the disk with what it prints.
// The first maxConsole bytes are kept, and the last maxTail.
const (
	maxConsole = 4 << 20
	maxTail    = 64 << 10
)

// console copies what the guest prints to a file, within limits, and never
// stops reading, so that a guest that prints much is slowed by nothing of ours.
type console struct {
	file    *os.File
	head    int    // bytes written to file
	tail    []byte // the last bytes, in file or not
	dropped int64  // bytes not written to file
}

// copyFrom reads r to its end and then writes what is left to write.
func (c *console) copyFrom(r io.Reader) {
	b := make([]byte, 16<<10)
	for {
		n, err := r.Read(b)
		c.add(b[:n])
		if err != nil {
			c.finish()
			return
		}
	}
}

func (c *console) add(b []byte) {
	keep := min(len(b), maxConsole-c.head)
	if keep > 0 {
		c.write(b[:keep])
		c.head += keep
	}
	c.dropped += int64(len(b) - keep)
	c.tail = append(c.tail, b...)
	if over := len(c.tail) - maxTail; over > 0 {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
}

// finish writes the tail behind a line that says what is missing.
func (c *console) finish() {
	if c.dropped == 0 {
		return
	}
	last := c.tail[max(0, int64(len(c.tail))-c.dropped):]
	if cut := c.dropped - int64(len(last)); cut > 0 {
		c.write(fmt.Appendf(nil, "\n[aibox: %d bytes are left out here]\n", cut))
	}
	c.write(last)
}

// write ignores errors: a full disk must not end the VM.
func (c *console) write(b []byte) { _, _ = c.file.Write(b) }

// panicMark is in the kernel's own last line.
const panicMark = "Kernel panic"

// reason returns the last line that says why the guest gave up, printable, or "".
func (c *console) reason() string {
	lines := strings.Split(string(c.tail), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := withoutTime(strings.TrimSpace(lines[i]))
		if strings.HasPrefix(line, panicMark) || strings.HasPrefix(line, wire.FailPrefix) {
			return plain.Line(line)
		}
	}
	return ""
}

// withoutTime drops the kernel's time, "[    1.234567] ".
func withoutTime(line string) string {
	if strings.HasPrefix(line, "[") {
		if _, rest, ok := strings.Cut(line, "] "); ok {
			return rest
		}
	}
	return line
}
