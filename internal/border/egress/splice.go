package egress

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// splice copies both ways until both directions have ended, and closes both
// connections. An end in one direction is passed on and leaves the other open; an
// error ends both. fromClient and fromUp read what each side sends.
func (p *Proxy) splice(client net.Conn, fromClient io.Reader, up net.Conn, fromUp io.Reader) {
	closeBoth := func() {
		_ = client.Close()
		_ = up.Close()
	}
	var half atomic.Bool
	silence := time.AfterFunc(halfOpenTime, closeBoth)
	silence.Stop()
	defer silence.Stop()
	flow := func(dst io.Writer, src io.Reader) {
		err := p.copy(dst, src, func() error {
			if half.Load() {
				silence.Reset(halfOpenTime)
			}
			return nil
		})
		half.Store(true)
		silence.Reset(halfOpenTime)
		if err != nil || closeWrite(dst) != nil {
			closeBoth()
		}
	}
	var both sync.WaitGroup
	both.Go(func() { flow(client, fromUp) })
	both.Go(func() { flow(up, fromClient) })
	both.Wait()
	closeBoth()
}

// copy copies until src ends and calls after, unless nil, after each write.
// Memory is one buffer: a slow dst stops the reading from src.
func (p *Proxy) copy(dst io.Writer, src io.Reader, after func() error) error {
	buf := p.buffers.Get().(*[]byte)
	defer p.buffers.Put(buf)
	for {
		n, err := src.Read(*buf)
		if n > 0 {
			if _, err := dst.Write((*buf)[:n]); err != nil {
				return err
			}
			if after != nil {
				if err := after(); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// closeWrite ends the sending direction alone, which a connection that cannot
// do so reports as an error.
func closeWrite(w io.Writer) error {
	if c, ok := w.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}
