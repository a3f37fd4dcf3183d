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
	"aibox/internal/wire/mux"
)

// writeTimeout only has to be finite for yamux: a paused VM or a stopped aibox
// must find the link as it was, and a host that is gone ends the VM anyway.
const writeTimeout = 24 * time.Hour

// serviceTimeout bounds the wait for the name of a stream the host opened.
const serviceTimeout = 30 * time.Second

// Link is the connection with the host.
type Link struct {
	session *yamux.Session
	frames  *mux.Conn
}

// Dial says hello on conn, checks that the answer belongs to it, and starts
// the multiplexer. conn is the link's from then on.
func Dial(conn net.Conn) (*Link, error) {
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
	frames := mux.NewConn(conn, nil)
	session, err := yamux.Client(frames, muxConfig())
	if err != nil {
		return nil, fmt.Errorf("start multiplexer: %w", err)
	}
	return &Link{session: session, frames: frames}, nil
}

// muxConfig holds what docs/protocol.md says of the guest.
func muxConfig() *yamux.Config {
	return &yamux.Config{
		AcceptBacklog:          mux.Backlog,
		KeepAliveInterval:      time.Hour, // not used, but must not be zero
		ConnectionWriteTimeout: writeTimeout,
		MaxStreamWindowSize:    mux.Window,
		LogOutput:              io.Discard,
	}
}

// Open opens a stream for a service of the host. It may wait for as long as
// the host accepts nothing.
func (l *Link) Open(service string) (*mux.Stream, error) {
	s, err := l.session.OpenStream()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", service, err)
	}
	stream := mux.NewStream(s, l.frames)
	if err := wire.WriteService(stream, service); err != nil {
		stream.Abort()
		return nil, fmt.Errorf("open %s: %w", service, err)
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
		go handle(mux.NewStream(s, l.frames), handlers)
	}
}

func handle(stream *mux.Stream, handlers map[string]func(net.Conn)) {
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
