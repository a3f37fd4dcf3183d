package task

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Stream is a stream to the host.
type Stream interface {
	net.Conn
	CloseWrite() error
}

// live is a file that goes to the host while it is written, so that it is there
// also if this VM dies.
type live struct {
	capped
	stream Stream // nil if it could not be opened
}

// close waits until the host has stored the file.
func (l *live) close() error {
	if l.stream == nil {
		return l.err
	}
	defer l.stream.Close()
	if l.err != nil {
		return l.err
	}
	if err := l.stream.CloseWrite(); err != nil {
		return err
	}
	_ = l.stream.SetReadDeadline(time.Now().Add(storeTime))
	switch n, err := l.stream.Read(make([]byte, 1)); {
	case n > 0:
		return errors.New("the host answered")
	case err != io.EOF:
		return fmt.Errorf("wait for the host: %w", err)
	}
	return nil
}

// capped writes at most left bytes and drops the rest. An error, such as that of
// a full disk, is kept, so that who prints is not ended by it.
type capped struct {
	w    io.Writer
	left int64
	err  error
}

func (c *capped) Write(p []byte) (int, error) {
	if part := p[:min(int64(len(p)), c.left)]; c.err == nil && len(part) > 0 {
		var n int
		n, c.err = c.w.Write(part)
		c.left -= int64(n)
	}
	return len(p), nil
}
