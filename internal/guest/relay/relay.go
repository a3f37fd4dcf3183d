package relay

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// Conn is a connection whose directions end on their own.
type Conn interface {
	net.Conn
	CloseWrite() error
}

// Relay forwards connections of the VM to the host.
type Relay struct {
	open  func(service string) (Conn, error)
	slots chan struct{}

	mu        sync.Mutex
	listeners []net.Listener
}

// New returns a relay that opens streams with open.
func New(open func(service string) (Conn, error)) *Relay {
	return &Relay{open: open, slots: make(chan struct{}, maxConns)}
}

// Listen starts to serve the ports on 127.0.0.1 and, as programs may take
// either for "localhost", on [::1], which a kernel without IPv6 may lack. A
// port that cannot be had on 127.0.0.1 is an error.
func (r *Relay) Listen(ports []Port) error {
	for _, p := range ports {
		number := strconv.Itoa(int(p.Number))
		slots := make(chan struct{}, maxConnsPerPort)
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", number))
		if err != nil {
			return fmt.Errorf("listen on port %s: %w", number, err)
		}
		r.serve(l, p, slots)
		if l, err := net.Listen("tcp6", net.JoinHostPort("::1", number)); err == nil {
			r.serve(l, p, slots)
		}
	}
	return nil
}

// Close stops listening. Connections go on.
func (r *Relay) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.listeners {
		l.Close()
	}
}

func (r *Relay) serve(l net.Listener, p Port, port chan struct{}) {
	r.mu.Lock()
	r.listeners = append(r.listeners, l)
	r.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				if !temporary(err) {
					return
				}
				continue
			}
			// Without a free place this one waits here and the others in the
			// kernel's backlog, where they cost nothing.
			port <- struct{}{}
			r.slots <- struct{}{}
			go func() {
				defer func() { <-r.slots; <-port }()
				r.carry(c.(*net.TCPConn), p)
			}()
		}
	}()
}

// temporary tells whether Accept may be tried again, after a moment when the
// system lacks something.
func temporary(err error) bool {
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		return true
	}
	if opErr, ok := err.(*net.OpError); ok && opErr.Temporary() {
		time.Sleep(10 * time.Millisecond)
		return true
	}
	return false
}

// carry serves one connection to its end.
func (r *Relay) carry(c *net.TCPConn, p Port) {
	defer c.Close()
	stream, err := r.open(p.Service)
	if err != nil {
		// A plain end would look like an empty answer.
		reset(c)
		return
	}
	if p.Target != "" {
		answered, err := connect(stream, p.Target)
		if err != nil {
			reset(stream)
			reset(c)
			return
		}
		stream = answered
	}
	Join(c, stream)
}
