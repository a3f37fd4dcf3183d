// Package single lets an HTTP server serve one connection of the link, where it
// would otherwise want a listener.
package single

import (
	"errors"
	"net"
	"net/http"
	"sync"
)

// Serve answers the requests of one connection and returns once it is closed.
// The server sees the connection as a *Conn.
func Serve(s *http.Server, conn net.Conn) {
	_ = s.Serve(&listener{conn: &Conn{Conn: conn, done: make(chan struct{})}}) // always net.ErrClosed
}

// listener accepts one connection and then waits for its end.
type listener struct {
	conn     *Conn
	accepted bool
}

func (l *listener) Accept() (net.Conn, error) {
	if l.accepted {
		<-l.conn.done
		return nil, net.ErrClosed
	}
	l.accepted = true
	return l.conn, nil
}

func (l *listener) Close() error   { return nil }
func (l *listener) Addr() net.Addr { return l.conn.LocalAddr() }

// Conn tells when it is closed.
type Conn struct {
	net.Conn
	once sync.Once
	done chan struct{}
}

// Close closes the connection and ends Serve.
func (c *Conn) Close() error {
	defer c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

// CloseWrite lets net/http end a response before the connection. It is
// errors.ErrUnsupported where the connection has no halves.
func (c *Conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Abort closes the connection so that the other side sees a transfer that broke.
func (c *Conn) Abort() {
	if a, ok := c.Conn.(interface{ Abort() }); ok {
		a.Abort()
	}
	_ = c.Close()
}
