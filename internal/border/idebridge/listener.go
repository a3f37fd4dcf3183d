package idebridge

import (
	"net"
	"sync"
)

// listener accepts one connection and then waits for its end.
type listener struct {
	conn     *closing
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

// closing tells when a connection is closed.
type closing struct {
	net.Conn
	once sync.Once
	done chan struct{}
}

func (c *closing) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.done) })
	return err
}
