package egress

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aibox/test/conns"
	"aibox/test/heap"
)

// client returns an HTTP client that goes through p and trusts server, unless nil.
func client(t testing.TB, p *Proxy, server *httptest.Server) *http.Client {
	t.Helper()
	proxy := &url.URL{Scheme: "http", Host: conns.Serve(t, p.Serve)}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), ForceAttemptHTTP2: true}
	if server != nil && server.TLS != nil {
		transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		transport.TLSClientConfig.ServerName = "example.com" // the test certificate's
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

func server(t testing.TB, tls bool, h http.HandlerFunc) (*httptest.Server, *world) {
	s := httptest.NewUnstartedServer(h)
	if s.EnableHTTP2 = tls; tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s, newWorld(s.Listener.Addr().String())
}

func TestHTTP2AndTLS(t *testing.T) {
	s, w := server(t, true, func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.Proto) })
	p, _ := w.proxy(t, "web.example")
	resp, err := client(t, p, s).Get("https://web.example/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if b, _ := io.ReadAll(resp.Body); string(b) != "HTTP/2.0" {
		t.Errorf("got %q", b)
	}
}

// TestEvents sends each event only once the client has the one before, so it
// passes only if nothing is held back.
func TestEvents(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		seen := make(chan struct{})
		s, w := server(t, scheme == "https", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 5 {
				_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
				w.(http.Flusher).Flush()
				select {
				case <-seen:
				case <-r.Context().Done():
					return
				}
			}
		})
		p, _ := w.proxy(t, "web.example", "web.example:80")
		resp, err := client(t, p, s).Get(scheme + "://web.example/")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			event := make([]byte, len("data: 0\n\n"))
			if _, err := io.ReadFull(resp.Body, event); err != nil || string(event) != fmt.Sprintf("data: %d\n\n", i) {
				t.Fatalf("%s event %d: %q, %v", scheme, i, event, err)
			}
			seen <- struct{}{}
		}
		_ = resp.Body.Close()
	}
}

func TestWebSocket(t *testing.T) {
	for _, scheme := range []string{"ws", "wss"} {
		s, w := server(t, scheme == "wss", func(w http.ResponseWriter, r *http.Request) {
			c, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			for {
				kind, b, err := c.Read(r.Context())
				if err != nil || c.Write(r.Context(), kind, append([]byte("echo "), b...)) != nil {
					return
				}
			}
		})
		p, _ := w.proxy(t, "web.example", "web.example:80")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		hc := client(t, p, s)
		hc.Timeout = 0
		hc.Transport.(*http.Transport).ForceAttemptHTTP2 = false
		c, _, err := websocket.Dial(ctx, scheme+"://web.example/", &websocket.DialOptions{HTTPClient: hc})
		if err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		big := bytes.Repeat([]byte("x"), 30000)
		if err := c.Write(ctx, websocket.MessageBinary, big); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != "echo "+string(big) {
			t.Errorf("%s: %d bytes, %v", scheme, len(got), err)
		}
		_ = c.Close(websocket.StatusNormalClosure, "")
	}
}

// TestHalfClose ends the client's direction first and then the server's first.
func TestHalfClose(t *testing.T) {
	w := newWorld(conns.Serve(t, func(c net.Conn) {
		defer func() { _ = c.Close() }()
		b, _ := io.ReadAll(c)
		_, _ = fmt.Fprintf(c, "got %s", b)
	}))
	p, _ := w.proxy(t, "web.example")
	if got := ask(t, p, "CONNECT web.example:443 HTTP/1.1\r\n\r\nearly data"); got != "HTTP/1.1 200 Connection established\r\n\r\ngot early data" {
		t.Errorf("client first: %q", got)
	}

	late := make(chan string, 1)
	w = newWorld(conns.Serve(t, func(c net.Conn) {
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "all")
		_ = c.(*net.TCPConn).CloseWrite()
		b, _ := io.ReadAll(c)
		late <- string(b)
	}))
	p, _ = w.proxy(t, "web.example")
	conn := dialProxy(t, p)
	_, _ = io.WriteString(conn, "CONNECT web.example:443 HTTP/1.1\r\n\r\n")
	if b, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(b), "\r\n\r\nall") {
		t.Fatalf("server first: %q, %v", b, err)
	}
	_, _ = io.WriteString(conn, "after the server's end")
	_ = conn.CloseWrite()
	if got := <-late; got != "after the server's end" {
		t.Errorf("server got %q", got)
	}
}

// TestServerEnds has the server break off; the client must notice, and must
// not take a part for the whole.
func TestServerEnds(t *testing.T) {
	for name, response := range map[string]string{
		"within a length": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
		"within a chunk":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		w := newWorld(conns.Serve(t, func(c net.Conn) {
			defer func() { _ = c.Close() }()
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, response)
		}))
		p, _ := w.proxy(t, "web.example:80")
		resp, err := client(t, p, nil).Get("http://web.example/")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b, err := io.ReadAll(resp.Body); err == nil || string(b) != "half" {
			t.Errorf("%s: %q, %v, want an error", name, b, err)
		}
		_ = resp.Body.Close()
	}
	for name, response := range map[string]string{
		"at once": "", "within the head": "HTTP/1.1 200 OK\r\nA: b", "no HTTP": "SSH-2.0-x\r\n", "unasked 101": "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"endless head": "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 2*maxResponse),
	} {
		w := newWorld(conns.Serve(t, func(c net.Conn) {
			defer func() { _ = c.Close() }()
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, response)
		}))
		p, _ := w.proxy(t, "web.example:80")
		if got := ask(t, p, "GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 502 aibox: the server ") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestResponseForms(t *testing.T) {
	for _, c := range []struct{ method, response, want string }{
		{"GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok"},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"},
		{"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"},
		{"DELETE", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"},
		{"GET", "HTTP/1.0 200 OK\r\n\r\nuntil the end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nuntil the end\r\n0\r\n\r\n"},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"},
	} {
		w := newWorld(conns.Serve(t, func(conn net.Conn) {
			defer func() { _ = conn.Close() }()
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, c.response)
		}))
		p, _ := w.proxy(t, "web.example:80")
		if got := ask(t, p, c.method+" http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n"); got != c.want {
			t.Errorf("%s %q:\ngot  %q\nwant %q", c.method, c.response, got, c.want)
		}
	}
}

// TestUploadOfAGigabyte sends 1 GiB by length, in chunks and through a tunnel
// and watches this process's memory, which holds client, proxy and server.
func TestUploadOfAGigabyte(t *testing.T) {
	const size = 1 << 30
	for _, scheme := range []string{"http", "https"} {
		sum := make(chan int64, 1)
		s, w := server(t, scheme == "https", func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			sum <- n
		})
		p, _ := w.proxy(t, "web.example", "web.example:80")
		c := client(t, p, s)
		c.Timeout = 5 * time.Minute
		peak := heap.Watch(t)
		resp, err := c.Post(scheme+"://web.example/", "application/octet-stream", io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if n := <-sum; n != size {
			t.Errorf("%s: server got %d bytes", scheme, n)
		}
		if grown := peak(); grown > 32<<20 {
			t.Errorf("%s: heap grew by %d bytes", scheme, grown)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestContent holds that bytes arrive as they were sent, both ways.
func TestContent(t *testing.T) {
	s, w := server(t, true, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.Copy(w, r.Body)
	})
	p, _ := w.proxy(t, "web.example")
	content := bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 200_000)
	resp, err := client(t, p, s).Post("https://web.example/", "", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if got, err := io.ReadAll(resp.Body); err != nil || sha256.Sum256(got) != sha256.Sum256(content) {
		t.Errorf("%d bytes, %v, want the %d that were sent", len(got), err, len(content))
	}
}

// TestEarlyResponse has the server refuse an upload before it has read it.
func TestEarlyResponse(t *testing.T) {
	w := newWorld(conns.Serve(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 100))
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.CopyN(io.Discard, c, 1<<20)
		_ = c.Close()
	}))
	p, _ := w.proxy(t, "web.example:80")
	conn := dialProxy(t, p)
	_, _ = io.WriteString(conn, "PUT http://web.example/ HTTP/1.1\r\nHost: web.example\r\nContent-Length: 99999999\r\n\r\nsome")
	got, err := io.ReadAll(conn)
	if err != nil || string(got) != "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig" {
		t.Errorf("got %q, %v", got, err)
	}
}
