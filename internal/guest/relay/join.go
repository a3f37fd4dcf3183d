package relay

import (
	"io"
	"net"

	"aibox/internal/wire/mux"
)

// Join carries bytes between a and b until both directions have ended, and
// closes both. The end of one direction is passed on and leaves the other
// open. An error in one resets both, so that a transfer that broke looks
// complete to nobody.
func Join(a, b Conn) {
	defer a.Close()
	defer b.Close()
	back := make(chan struct{})
	go func() {
		defer close(back)
		oneWay(a, b)
	}()
	oneWay(b, a)
	<-back
}

// piece makes frames that go out as one write: the kernel's driver of the serial
// port takes 32 KiB at once.
const piece = 32<<10 - mux.HeaderSize

func oneWay(to, from Conn) {
	_, err := io.CopyBuffer(writerOnly{to}, readerOnly{from}, make([]byte, piece))
	if err == nil {
		err = to.CloseWrite()
	}
	if err != nil {
		reset(to)
		reset(from)
	}
}

// reset ends a connection so that the other end sees an error.
func reset(c Conn) {
	switch c := c.(type) {
	case interface{ Abort() }:
		c.Abort()
	case *net.TCPConn:
		_ = c.SetLinger(0)
		c.Close()
	default:
		c.Close()
	}
}

// readerOnly and writerOnly hide methods by which io.Copy would take another
// buffer than the one it was given.
type (
	readerOnly struct{ io.Reader }
	writerOnly struct{ io.Writer }
)
