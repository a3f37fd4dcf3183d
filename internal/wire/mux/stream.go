package mux

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Linger is how long a closed stream takes and drops what the other side
// still sends before it is reset.
const Linger = 5 * time.Second

// Muxed is a stream of yamux: its Close sends FIN and leaves reading open.
type Muxed interface {
	net.Conn
	StreamID() uint32
}

// Stream is a net.Conn over one stream of yamux that closes as TCP does. Read
// returns io.EOF once the other side closed its writing, and an error that is
// not io.EOF once it reset the stream or the link ended while data was due.
type Stream struct {
	Muxed
	conn *Conn

	readMu sync.Mutex // held while yamux reads

	mu      sync.Mutex
	closed  bool
	readBy  time.Time
	writeBy time.Time
	once    sync.Once
}

// NewStream returns a Stream over s, a stream of the session that runs over conn.
func NewStream(s Muxed, conn *Conn) *Stream { return &Stream{Muxed: s, conn: conn} }

// Read reads as net.Conn says. After Close or Abort it returns net.ErrClosed.
func (s *Stream) Read(p []byte) (int, error) {
	if err := s.ready(&s.readBy); err != nil {
		return 0, err
	}
	s.readMu.Lock()
	defer s.readMu.Unlock()
	if err := s.ready(&s.readBy); err != nil {
		return 0, err
	}
	n, err := s.Muxed.Read(p)
	return n, s.explain(err)
}

// Write writes as net.Conn says. After CloseWrite, Close or Abort it returns an error.
func (s *Stream) Write(p []byte) (int, error) {
	if err := s.ready(&s.writeBy); err != nil {
		return 0, err
	}
	n, err := s.Muxed.Write(p)
	return n, s.explain(err)
}

// ready refuses work on a closed stream or after the deadline at by: yamux
// looks at deadlines only while it waits, so a peer that always has something
// to say would never meet one.
func (s *Stream) ready(by *time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	if !by.IsZero() && !time.Now().Before(*by) {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// CloseWrite tells the other side that no more data comes; reading goes on.
func (s *Stream) CloseWrite() error {
	if s.isClosed() {
		return net.ErrClosed
	}
	return s.Muxed.Close()
}

// Close ends the stream and returns at once. What was written still arrives;
// what the other side sends is dropped, and after Linger the stream is reset.
func (s *Stream) Close() error {
	s.end(Linger)
	return nil
}

// Abort ends the stream and returns at once. The other side's next read or
// write fails, and what it has not read yet is lost.
func (s *Stream) Abort() { s.end(0) }

// SetDeadline sets the deadlines as net.Conn says.
func (s *Stream) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}

// SetReadDeadline sets the deadline of Read.
func (s *Stream) SetReadDeadline(t time.Time) error {
	return s.setDeadline(&s.readBy, t, s.Muxed.SetReadDeadline)
}

// SetWriteDeadline sets the deadline of Write. It bounds the wait for the
// stream's window; while the other side reads nothing at all from the whole
// link, a Write waits regardless.
func (s *Stream) SetWriteDeadline(t time.Time) error {
	return s.setDeadline(&s.writeBy, t, s.Muxed.SetWriteDeadline)
}

func (s *Stream) setDeadline(by *time.Time, t time.Time, set func(time.Time) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	*by = t
	return set(t)
}

func (s *Stream) end(linger time.Duration) {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		_ = s.Muxed.SetReadDeadline(time.Unix(1, 0)) // wakes a Read that waits
		s.mu.Unlock()
		go s.finish(linger)
	})
}

// finish runs beside the caller, because sending FIN or a reset blocks while
// the other side reads nothing.
func (s *Stream) finish(linger time.Duration) {
	if linger > 0 {
		_ = s.Muxed.Close()
		if s.drain(linger) {
			return
		}
	}
	s.conn.Reset(s.StreamID())
	_ = s.Muxed.Close() // wakes a Write that waits for the window
}

// drain drops what arrives for the given time. It returns true if the other
// side finished or reset the stream, or is gone.
func (s *Stream) drain(linger time.Duration) bool {
	s.readMu.Lock()
	defer s.readMu.Unlock()
	by := time.Now().Add(linger)
	_ = s.Muxed.SetReadDeadline(by)
	b := make([]byte, 4<<10)
	for time.Now().Before(by) {
		if _, err := s.Muxed.Read(b); err != nil {
			return !isTimeout(err)
		}
	}
	return false
}

func (s *Stream) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// explain makes yamux's errors those that net.Conn's users test for.
func (s *Stream) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case s.isClosed():
		return net.ErrClosed
	case isTimeout(err):
		return os.ErrDeadlineExceeded
	case err == io.EOF && s.conn.ended.Load():
		// yamux says EOF on every stream when the connection ends.
		return io.ErrUnexpectedEOF
	}
	return err
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
