package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"aibox/internal/border/egress/record"
	"aibox/test/allow"
	"aibox/test/conns"
)

// world is a fake network: names resolve to what answers says, and the
// addresses of hosts lead to local listeners. It records what the proxy asks.
type world struct {
	mu      sync.Mutex
	answers map[string][]string // each lookup of a name takes the next answer; the last one stays
	hosts   map[string]string   // "8.8.8.8:443" to the address of a listener
	pipes   map[string]func() net.Conn
	lookups []string
	dials   []string
}

func (w *world) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookups = append(w.lookups, host)
	all := w.answers[host]
	if network != "ip" || len(all) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "192.0.2.53:53", IsNotFound: true}
	}
	if len(all) > 1 {
		w.answers[host] = all[1:]
	}
	var addrs []netip.Addr
	for a := range strings.FieldsSeq(all[0]) {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

func (w *world) Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dials = append(w.dials, addr.String())
	target, pipe := w.hosts[addr.String()], w.pipes[addr.String()]
	w.mu.Unlock()
	switch {
	case pipe != nil:
		return pipe(), nil
	case target == "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case target == "":
		return nil, errors.New("connect from 192.168.7.7: connection refused")
	}
	return new(net.Dialer).DialContext(ctx, "tcp", target)
}

func (w *world) asked() (lookups, dials []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lookups...), append([]string(nil), w.dials...)
}

// newWorld resolves "web.example" to 8.8.8.8 whose port 80 is listener.
func newWorld(listener string) *world {
	return &world{
		answers: map[string][]string{"web.example": {"8.8.8.8"}},
		hosts:   map[string]string{"8.8.8.8:80": listener, "8.8.8.8:443": listener},
	}
}

func (w *world) proxy(t testing.TB, lines ...string) (*Proxy, *record.Recorder) {
	t.Helper()
	rec := record.New(io.Discard, time.Now)
	return New(Config{Allow: allow.List(t, lines...), Recorder: rec, Resolver: w, Dial: w.Dial}), rec
}

// dialProxy opens a connection to p as a program in the VM has it.
func dialProxy(t testing.TB, p *Proxy) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", conns.Serve(t, p.Serve))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	return conn.(*net.TCPConn)
}

// ask sends a raw request and returns everything the proxy answers.
func ask(t testing.TB, p *Proxy, request string) string {
	t.Helper()
	conn := dialProxy(t, p)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	_ = conn.CloseWrite()
	b, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %q: %v", b, err)
	}
	return string(b)
}

// echoHead is a server that answers each request with the head and body that arrived.
func echoHead(t testing.TB) string {
	return conns.Serve(t, func(c net.Conn) {
		defer func() { _ = c.Close() }()
		r := bufio.NewReader(c)
		var head strings.Builder
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if head.WriteString(line); line == "\r\n" {
				break
			}
		}
		req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(head.String()), r)))
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		text := head.String() + string(body)
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n\r\n%s", len(text), text)
	})
}

// duplex is one end of an in-memory connection whose directions end apart.
type duplex struct {
	r, w net.Conn
}

func newDuplex() (a, b duplex) {
	ar, bw := net.Pipe()
	br, aw := net.Pipe()
	return duplex{ar, aw}, duplex{br, bw}
}

func (d duplex) Read(p []byte) (int, error)         { return d.r.Read(p) }
func (d duplex) Write(p []byte) (int, error)        { return d.w.Write(p) }
func (d duplex) CloseWrite() error                  { return d.w.Close() }
func (d duplex) Close() error                       { _ = d.r.Close(); return d.w.Close() }
func (d duplex) LocalAddr() net.Addr                { return d.r.LocalAddr() }
func (d duplex) RemoteAddr() net.Addr               { return d.r.RemoteAddr() }
func (d duplex) SetReadDeadline(t time.Time) error  { return d.r.SetReadDeadline(t) }
func (d duplex) SetWriteDeadline(t time.Time) error { return d.w.SetWriteDeadline(t) }
func (d duplex) SetDeadline(t time.Time) error {
	_ = d.r.SetReadDeadline(t)
	return d.w.SetWriteDeadline(t)
}
