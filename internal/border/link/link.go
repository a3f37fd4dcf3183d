package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"aibox/internal/wire"
)

// Streams is a transport of many streams in both directions. Its connections
// have CloseWrite. After Close, Accept and Open return errors.
type Streams interface {
	Open(ctx context.Context) (net.Conn, error)
	Accept() (net.Conn, error)
	Close() error
}

// Handler serves the streams of one service that the VM opens.
type Handler struct {
	// Serve is called for each stream in a goroutine of its own, after the
	// service's name was read. The stream is closed when it returns. The conn
	// has CloseWrite() error; over a serial port it has Abort() too.
	Serve func(net.Conn)
	// MaxStreams is how many streams of the service are served at once. More
	// are closed unserved.
	MaxStreams int
}

// Options set up a Link.
type Options struct {
	// Handlers serve what the VM opens, by service name.
	Handlers map[string]Handler
	// Log takes what was refused; nil for none.
	Log *slog.Logger
	// HelloTimeout replaces the constant of that name if it is not zero.
	HelloTimeout time.Duration
}

func (o Options) helloTimeout() time.Duration {
	if o.HelloTimeout != 0 {
		return o.HelloTimeout
	}
	return HelloTimeout
}

// Link is a connection with a guest that said hello.
type Link struct {
	streams Streams
	service *services
	done    chan struct{}
	serving sync.WaitGroup

	mu     sync.Mutex
	err    error
	closed bool
}

// New waits for the guest's hello on the first stream it opens, and then serves
// the streams of a transport that has its own. It takes streams over and
// closes it also on error.
func New(streams Streams, opts Options) (*Link, error) {
	if err := helloOver(streams, opts.helloTimeout()); err != nil {
		_ = streams.Close()
		return nil, err
	}
	return start(streams, opts), nil
}

func helloOver(streams Streams, timeout time.Duration) error {
	timer := time.AfterFunc(timeout, func() { _ = streams.Close() })
	conn, err := streams.Accept()
	if !timer.Stop() {
		err = errors.Join(err, context.DeadlineExceeded)
	}
	if conn != nil {
		defer conn.Close()
	}
	if err != nil {
		return fmt.Errorf("link with the VM: wait for hello: %w", err)
	}
	return answerHello(conn, timeout)
}

func start(streams Streams, opts Options) *Link {
	l := &Link{streams: streams, service: newServices(opts), done: make(chan struct{})}
	go l.accept()
	return l
}

// accept serves streams until the link ends. It counts handlers that run: one
// may outlive its stream, and not every transport has the guard.
func (l *Link) accept() {
	defer close(l.done)
	living := make(chan struct{}, MaxStreams)
	refused := 0
	for {
		conn, err := l.streams.Accept()
		if err != nil {
			l.fail(err)
			return
		}
		select {
		case living <- struct{}{}:
		default:
			_ = conn.Close()
			l.service.refused("too many streams are served already", "", nil)
			if refused++; refused > MaxRefused {
				l.fail(violation("the VM went on to open streams over the limit of %d", MaxStreams))
				return
			}
			continue
		}
		l.serving.Go(func() {
			defer func() { <-living }()
			l.service.serve(conn)
		})
	}
}

// fail ends the link with err; io.EOF stands for an end without a reason.
func (l *Link) fail(err error) {
	l.mu.Lock()
	if !l.closed && err != io.EOF {
		l.err = err
	}
	l.mu.Unlock()
	_ = l.streams.Close()
}

// Open opens a stream of a service in the VM. It succeeds before the guest
// has accepted anything, and takes at most OpenTimeout.
func (l *Link) Open(ctx context.Context, service string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, OpenTimeout)
	defer cancel()
	opened := make(chan net.Conn)
	failed := make(chan error, 1)
	// A VM that reads nothing blocks even the first bytes, deaf to deadlines.
	go func() {
		conn, err := l.open(ctx, service)
		if err != nil {
			failed <- err
			return
		}
		select {
		case opened <- conn:
		case <-ctx.Done():
			_ = conn.Close()
		}
	}()
	select {
	case conn := <-opened:
		return conn, nil
	case err := <-failed:
		return nil, fmt.Errorf("open service %s in the VM: %w", service, err)
	case <-ctx.Done():
		return nil, fmt.Errorf("open service %s in the VM: %w", service, ctx.Err())
	}
}

func (l *Link) open(ctx context.Context, service string) (net.Conn, error) {
	conn, err := l.streams.Open(ctx)
	if err != nil {
		return nil, err
	}
	if err := wire.WriteService(conn, service); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// Done is closed when the link has ended. Handlers may still be returning.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err says why the link ended: a *Violation when the VM broke the protocol,
// another error when the connection failed, and nil after Close or when the VM
// ended. It is valid once Done is closed.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close ends the link and all its streams. It waits for Done, not for handlers.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.streams.Close()
	<-l.done
}

// Wait waits until every handler has returned or ctx ends. It is for after Done.
func (l *Link) Wait(ctx context.Context) error {
	idle := make(chan struct{})
	go func() {
		l.serving.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the link's handlers: %w", ctx.Err())
	}
}
