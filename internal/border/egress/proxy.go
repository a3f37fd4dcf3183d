package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"aibox/internal/border/egress/httphead"
	"aibox/internal/border/egress/record"
	"aibox/internal/border/egress/route"
	"aibox/internal/hosts"
)

// Resolver looks names up.
type Resolver = route.Resolver

// Config is what a Proxy needs.
type Config struct {
	Allow    hosts.List
	OwnAddrs []netip.Addr // the host's own addresses, refused like its networks; may be nil
	Recorder *record.Recorder
	Resolver Resolver       // nil means route.SystemResolver
	Dial     route.DialFunc // nil means route.SystemDial
	Logger   *slog.Logger   // nil means none
}

// Proxy serves connections of one VM. It is safe for concurrent use.
type Proxy struct {
	config  Config
	router  *route.Router
	buffers sync.Pool // of *[]byte
}

// New returns a proxy.
func New(c Config) *Proxy {
	if c.Recorder == nil {
		c.Recorder = record.New(io.Discard, time.Now)
	}
	if c.Resolver == nil {
		c.Resolver = route.SystemResolver()
	}
	if c.Dial == nil {
		c.Dial = route.SystemDial
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{config: c, router: &route.Router{Allow: c.Allow, OwnAddrs: c.OwnAddrs, Resolver: c.Resolver, Dial: c.Dial}}
	p.buffers.New = func() any { return new(make([]byte, bufferSize)) }
	return p
}

// session is one connection of the VM.
type session struct {
	*Proxy
	conn net.Conn
	r    *bufio.Reader // all reads of conn
	kept *upstream     // of the last request, for the next; nil for none
}

// Serve answers the requests of one connection and closes it. It returns when
// both directions have ended, which can take days.
func (p *Proxy) Serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	s := &session{Proxy: p, conn: conn, r: bufio.NewReaderSize(conn, httphead.MaxLine)}
	defer s.drop()
	for s.serveOne() {
	}
}

// serveOne handles one request and tells whether another may follow.
func (s *session) serveOne() bool {
	_ = s.conn.SetReadDeadline(time.Now().Add(requestWait))
	if _, err := s.r.Peek(1); err != nil {
		return false
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(headTime))
	h, err := httphead.Read(s.r)
	_ = s.conn.SetReadDeadline(time.Time{})
	again := false
	var bad httphead.Error
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		err = &route.Failure{Status: http.StatusRequestTimeout, Text: "aibox: the request was not complete in time"}
	case err != nil && !errors.As(err, &bad):
		return false // the client left
	case err != nil:
	case h.Method == http.MethodConnect:
		err = s.tunnel(h)
	default:
		again, err = s.forward(h)
	}
	if err != nil {
		s.answer(err)
	}
	return again
}

// target reads where a request goes and holds its Host header against it. Only
// CONNECT may lack the header, since nothing of its head goes further.
func (s *session) target(h httphead.Head, authority string, port uint16) (hosts.Target, error) {
	t, refusal := route.ParseTarget(authority, port)
	if refusal != nil {
		s.config.Recorder.Refuse(*refusal)
		return t, refusal
	}
	host, ok := h.Header["Host"]
	if !ok && (h.HTTP10 || h.Method == http.MethodConnect) {
		return t, nil
	}
	if !ok {
		return t, httphead.Error("has no Host header")
	}
	if named, r := route.ParseTarget(host[0], t.Port); r != nil || named != t {
		return t, httphead.Error("has a Host header that differs from its target")
	}
	return t, nil
}

// tunnel serves CONNECT until both directions have ended. An error has not been
// answered yet; what followed the head is then discarded, never read as
// another request.
func (s *session) tunnel(h httphead.Head) error {
	if h.Length != 0 {
		return httphead.Error("is a CONNECT with a body")
	}
	t, err := s.target(h, h.URI, 0)
	if err != nil {
		return err
	}
	s.drop()
	up, err := s.connect(t)
	if err != nil {
		return err
	}
	if s.write("HTTP/1.1 200 Connection established\r\n\r\n") != nil {
		_ = up.Close()
		return nil
	}
	s.splice(s.conn, s.r, up, up)
	return nil
}

// connect connects and records how that went.
func (p *Proxy) connect(t hosts.Target) (net.Conn, error) {
	conn, err := p.router.Connect(context.Background(), t)
	p.record(t, err)
	return conn, err
}

// answerTo turns an error into the status and line for the client.
func answerTo(err error) (status int, text string) {
	if r := (*route.Refusal)(nil); errors.As(err, &r) {
		return http.StatusForbidden, r.Text
	}
	if f := (*route.Failure)(nil); errors.As(err, &f) {
		return f.Status, f.Text
	}
	if bad := httphead.Error(""); errors.As(err, &bad) {
		return http.StatusBadRequest, "aibox: the request " + string(bad)
	}
	return http.StatusBadGateway, "aibox: the server ended the connection or sent no valid HTTP response"
}

// write sends a text of the proxy's own.
func (s *session) write(text string) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(answerTime))
	defer func() { _ = s.conn.SetWriteDeadline(time.Time{}) }()
	_, err := io.WriteString(s.conn, text)
	return err
}

// answer sends the error as a status whose reason and body are one line, since
// many clients show the reason only, and ends the connection.
func (s *session) answer(err error) {
	status, text := answerTo(err)
	s.config.Logger.Debug("request not served", "status", status, "text", text)
	reason := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	err = s.write(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"+
		"X-Aibox-Answer: %s\r\nConnection: close\r\n\r\n%s\n", status, reason, len(text)+1, http.StatusText(status), text))
	if err == nil {
		s.linger()
	}
}

// linger reads on for a moment before the connection is closed for good, since
// closing with unread bytes could destroy the answer before the client reads it.
func (s *session) linger() {
	_ = closeWrite(s.conn)
	_ = s.conn.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, s.r, maxLinger)
}
