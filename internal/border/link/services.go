package link

import (
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"aibox/internal/plain"
	"aibox/internal/wire"
	"aibox/internal/wire/mux"
)

// services hands streams to the handlers of their services.
type services struct {
	byName    map[string]*service
	log       *slog.Logger
	logged    atomic.Int64
	handshake time.Duration
}

type service struct {
	Handler
	slots chan struct{}
}

func newServices(opts Options) *services {
	s := &services{byName: make(map[string]*service), log: opts.Log, handshake: HandshakeTimeout}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for name, h := range opts.Handlers {
		s.byName[name] = &service{Handler: h, slots: make(chan struct{}, h.MaxStreams)}
	}
	return s
}

// serve reads the service's name and serves one stream to its end. Whatever
// goes wrong ends this stream alone.
func (s *services) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(s.handshake))
	name, err := wire.ReadService(conn)
	if err != nil {
		s.refused("a stream named no service", "", err)
		return
	}
	svc := s.byName[name]
	if svc == nil {
		s.refused("a stream named an unknown service", name, nil)
		return
	}
	select {
	case svc.slots <- struct{}{}:
		defer func() { <-svc.slots }()
	default:
		s.refused(fmt.Sprintf("a service has %d streams already", svc.MaxStreams), name, nil)
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	defer s.recovered(name, conn)
	svc.Serve(conn)
}

// recovered keeps a handler's bug from ending the user's session. The VM sees
// that its stream broke off.
func (s *services) recovered(name string, conn net.Conn) {
	p := recover()
	if p == nil {
		return
	}
	if stream, ok := conn.(*mux.Stream); ok {
		stream.Abort()
	}
	if s.mayLog() {
		s.log.Error("a handler of the link panicked", "service", name,
			"panic", plain.Line(fmt.Sprint(p)), "stack", string(debug.Stack()))
	}
}

func (s *services) refused(what, service string, err error) {
	if !s.mayLog() {
		return
	}
	attrs := []any{"service", service}
	if err != nil {
		attrs = append(attrs, "error", plain.Line(err.Error()))
	}
	s.log.Warn("link: "+what, attrs...)
}

func (s *services) mayLog() bool {
	switch n := s.logged.Add(1); {
	case n < MaxLogged:
		return true
	case n == MaxLogged:
		s.log.Warn("link: what is refused from here on is not logged")
	}
	return false
}
