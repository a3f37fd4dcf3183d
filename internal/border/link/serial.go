package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"aibox/internal/wire"
	"aibox/internal/wire/mux"
)

// Serve waits for the guest's hello on conn, answers it, and serves the streams
// that yamux carries over it. It takes conn over and closes it also on error. An
// error that wraps wire.ErrVersion means that image and aibox do not match.
func Serve(conn net.Conn, opts Options) (*Link, error) {
	streams, err := overSerial(conn, opts)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return start(streams, opts), nil
}

func overSerial(conn net.Conn, opts Options) (*serial, error) {
	if err := answerHello(conn, opts.helloTimeout()); err != nil {
		return nil, err
	}
	g := newGuard()
	frames := mux.NewConn(conn, g)
	session, err := yamux.Server(frames, &yamux.Config{
		AcceptBacklog:          MaxWaiting,
		KeepAliveInterval:      time.Hour, // not used, but must not be zero
		ConnectionWriteTimeout: writeTimeout,
		MaxStreamWindowSize:    mux.Window,
		Logger:                 silent{},
	})
	if err != nil {
		return nil, fmt.Errorf("start yamux on the link: %w", err)
	}
	return &serial{session: session, frames: frames, guard: g}, nil
}

// answerHello reads the guest's hello and answers it within timeout.
func answerHello(conn net.Conn, timeout time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return fmt.Errorf("set a deadline on the link: %w", err)
	}
	hello, err := wire.ReadHello(conn)
	if err != nil {
		return fmt.Errorf("link with the VM: %w", err)
	}
	if err := wire.WriteHello(conn, hello); err != nil {
		return fmt.Errorf("link with the VM: answer hello: %w", err)
	}
	return conn.SetDeadline(time.Time{})
}

// serial is yamux over one connection, as Streams.
type serial struct {
	session *yamux.Session
	frames  *mux.Conn
	guard   *guard
}

func (s *serial) Accept() (net.Conn, error) {
	stream, err := s.session.AcceptStream()
	if err != nil {
		return nil, s.explain(err)
	}
	s.guard.accepted()
	return mux.NewStream(stream, s.frames), nil
}

func (s *serial) Open(context.Context) (net.Conn, error) {
	stream, err := s.session.OpenStream()
	if err != nil {
		return nil, err
	}
	return mux.NewStream(stream, s.frames), nil
}

func (s *serial) Close() error { return s.session.Close() }

// explain puts the guard's reason before what yamux made of it. The end of the
// connection without one is no error: the machine knows why it ended.
func (s *serial) explain(err error) error {
	if reason := s.guard.reason(); reason != nil {
		return reason
	}
	for _, end := range []error{yamux.ErrSessionShutdown, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe,
		net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return io.EOF
		}
	}
	return fmt.Errorf("link with the VM: %w", err)
}

// silent drops yamux's log: a VM could fill it, and the guard says it better.
type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
