package link

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"

	"aibox/internal/wire"
)

// A paused VM or a stopped aibox must find the link as it was, however long
// that takes; a host that is gone ends the VM anyway.
const patience = 30 * 24 * time.Hour

// serviceTimeout bounds the wait for the name of a stream the host opened.
const serviceTimeout = 30 * time.Second

// Link is the connection with the host.
type Link struct{ session *yamux.Session }

// Stream is one conversation on the link. Its CloseWrite leaves the way back
// open; its Close ends both ways for this side.
type Stream struct{ *yamux.Stream }

// CloseWrite tells the host that no more bytes follow.
func (s Stream) CloseWrite() error { return s.Stream.Close() }

// Close closes the stream and wakes who reads from or writes to it.
func (s Stream) Close() error {
	err := s.Stream.Close()
	_ = s.SetDeadline(time.Unix(1, 0))
	return err
}

// Dial says hello on conn, checks that the answer belongs to it, and starts
// the multiplexer. conn is the link's from then on.
func Dial(conn io.ReadWriteCloser) (*Link, error) {
	hello := wire.Hello{Version: wire.Version}
	if _, err := rand.Read(hello.Nonce[:]); err != nil {
		return nil, fmt.Errorf("make nonce: %w", err)
	}
	if err := wire.WriteHello(conn, hello); err != nil {
		return nil, fmt.Errorf("say hello: %w", err)
	}
	answer, err := wire.ReadHello(conn)
	if err != nil {
		return nil, err
	}
	if answer.Nonce != hello.Nonce {
		return nil, errors.New("read hello: the answer belongs to another boot")
	}
	session, err := yamux.Client(conn, muxConfig())
	if err != nil {
		return nil, fmt.Errorf("start multiplexer: %w", err)
	}
	return &Link{session: session}, nil
}

// muxConfig has no time limit that a pause of either side could run into.
func muxConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = patience
	c.StreamOpenTimeout = 0
	c.StreamCloseTimeout = patience
	c.LogOutput = io.Discard
	return c
}

// Open opens a stream for a service of the host.
func (l *Link) Open(service string) (Stream, error) {
	s, err := l.session.OpenStream()
	if err != nil {
		return Stream{}, fmt.Errorf("open %s: %w", service, err)
	}
	stream := Stream{s}
	if err := wire.WriteService(stream, service); err != nil {
		stream.Close()
		return Stream{}, fmt.Errorf("open %s: %w", service, err)
	}
	return stream, nil
}

// Serve hands the streams that the host opens to the handler of their service,
// each on a goroutine of its own, until the link ends.
func (l *Link) Serve(handlers map[string]func(net.Conn)) {
	for {
		s, err := l.session.AcceptStream()
		if err != nil {
			return
		}
		go handle(Stream{s}, handlers)
	}
}

func handle(stream Stream, handlers map[string]func(net.Conn)) {
	defer stream.Close()
	_ = stream.SetReadDeadline(time.Now().Add(serviceTimeout))
	service, err := wire.ReadService(stream)
	if err != nil {
		return
	}
	_ = stream.SetReadDeadline(time.Time{})
	if serve, ok := handlers[service]; ok {
		serve(stream)
	}
}

// Done is closed when the link has ended.
func (l *Link) Done() <-chan struct{} { return l.session.CloseChan() }

// Close ends the link.
func (l *Link) Close() error { return l.session.Close() }
