package egress

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"aibox/internal/border/egress/httphead"
)

// upload sends a request's body to the server, beside the response, and then
// watches whether the client is still there. It reads the connection alone until stop has
// returned.
type upload struct {
	s     *session
	up    net.Conn
	ended atomic.Bool // the whole body has been read, before its last bytes are sent
	done  chan struct{}
	watch *time.Timer // starts the reading where there is no body
	timer *time.Timer // runs once the client has ended its sending; read after done
	cause error       // why the client's body cannot be sent to its end; read after done

	mu      sync.Mutex // guards stopped and, until then, the read deadline
	stopped bool
}

func (s *session) startUpload(h httphead.Head, up net.Conn) *upload {
	u := &upload{s: s, up: up, done: make(chan struct{})}
	u.ended.Store(h.Length == 0)
	if u.ended.Load() {
		u.watch = time.AfterFunc(watchAfter, func() { u.read(h) }) // most responses are over by then
	} else {
		go u.read(h)
	}
	return u
}

func (u *upload) read(h httphead.Head) {
	defer close(u.done)
	if err := u.sendBody(h); err != nil || u.wait(0) != nil {
		return
	}
	if _, err := u.s.r.Peek(1); err == io.EOF {
		u.timer = time.AfterFunc(cutClientTime, func() { _ = u.up.Close() })
	}
}

func (u *upload) sendBody(h httphead.Head) error {
	switch h.Length {
	case 0:
		return nil
	case httphead.Chunked:
		w := bufio.NewWriterSize(u.up, 4<<10)
		chunks := httputil.NewChunkedWriter(w)
		body := u.fromClient(httputil.NewChunkedReader(u.s.r), func() error { return httphead.ReadTrailer(u.s.r) })
		if err := u.s.copy(chunks, body, w.Flush); err != nil {
			return err
		}
		_ = chunks.Close()
		_, _ = w.WriteString("\r\n")
		return w.Flush()
	}
	body := &io.LimitedReader{R: u.s.r, N: h.Length}
	return u.s.copy(u.up, u.fromClient(body, func() error {
		if body.N > 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}), nil)
}

// fromClient is r with a limit on the silence before each read and with end
// called where r ends. When the client's part fails it closes up, which
// would else wait for the rest; a failing up may still have answered.
func (u *upload) fromClient(r io.Reader, end func() error) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := u.wait(bodyWait); err != nil {
			return 0, err
		}
		n, err := r.Read(p)
		if l, ok := r.(*io.LimitedReader); err == io.EOF || ok && l.N == 0 {
			if err = end(); err == nil {
				u.ended.Store(true)
				return n, io.EOF
			}
		}
		if err != nil {
			u.cause = err
			_ = u.up.Close()
		}
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// wait limits the next read to d, or not at all for 0.
func (u *upload) wait(d time.Duration) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped {
		return errors.New("the request has ended")
	}
	var deadline time.Time
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	return u.s.conn.SetReadDeadline(deadline)
}

// stop ends the reading. While the body is not sent, up must be closed before.
func (u *upload) stop() {
	if u.watch != nil && u.watch.Stop() {
		return // nothing was read
	}
	u.mu.Lock()
	u.stopped = true
	_ = u.s.conn.SetReadDeadline(time.Unix(1, 0))
	u.mu.Unlock()
	<-u.done
	_ = u.s.conn.SetReadDeadline(time.Time{})
	if u.timer != nil {
		u.timer.Stop()
	}
}
