package keygate

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"aibox/test/conns"
	"aibox/test/heap"
)

const key = "sk-ant-the-real-key"

// recorder counts what would go into proxy.log.
type recorder struct {
	mu      sync.Mutex
	targets []string
}

func (r *recorder) Connect(target string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.targets = append(r.targets, target)
}

// fixture is a gate before a real TLS server.
type fixture struct {
	gate *Gate
	rec  *recorder
	log  *bytes.Buffer
	addr string // where the gate listens

	mu   sync.Mutex
	seen []*http.Request
}

// start serves api over TLS and HTTP/2 behind a gate.
func start(t *testing.T, api http.HandlerFunc) *fixture {
	t.Helper()
	f := &fixture{rec: &recorder{}, log: &bytes.Buffer{}}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.seen = append(f.seen, r)
		f.mu.Unlock()
		api(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	upstream, _ := url.Parse(s.URL)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	f.serve(t, Config{Upstream: upstream, RootCAs: roots})
	return f
}

// serve starts the gate with the rest of its config.
func (f *fixture) serve(t *testing.T, c Config) {
	t.Helper()
	c.Key, c.Recorder, c.Logger = key, f.rec, slog.New(slog.NewTextHandler(f.log, nil))
	gate, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // once nothing is served any more
		if strings.Contains(f.log.String(), key) {
			t.Error("the key is in the log")
		}
	})
	f.gate, f.addr = gate, conns.Serve(t, gate.Serve)
}

// ask sends a raw request and returns everything the gate answers.
func (f *fixture) ask(t *testing.T, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, request)
	b, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %q: %v", b, err)
	}
	if strings.Contains(string(b), key) {
		t.Errorf("the answer has the key: %q", b)
	}
	return string(b)
}

func (f *fixture) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*http.Request(nil), f.seen...)
}

func TestRequestUpstream(t *testing.T) {
	f := start(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Proto, r.URL, b)
	})
	got := f.ask(t, "POST http://evil.example/v1/messages?beta=true&a=%2e HTTP/1.1\r\nHost: other.example\r\nConnection: close, x-api-key\r\nContent-Length: 5\r\n"+
		"X-Api-Key: placeholder\r\nx_api_key: a\r\nAuthorization: Bearer mine\r\nCookie: a=b\r\nProxy-Authorization: c\r\nX-Forwarded-For: 1.2.3.4\r\nForwarded: for=x\r\n"+
		"X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /admin\r\nAnthropic-Version: 2023-06-01\r\nUser-Agent: claude\r\nAccept-Encoding: br\r\n\r\nhello")
	if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || !strings.Contains(got, "HTTP/2.0 /v1/messages?beta=true&a=%2e hello") {
		t.Fatalf("got %q", got)
	}
	r := f.requests()[0]
	want := http.Header{"X-Api-Key": {key}, "Anthropic-Version": {"2023-06-01"}, "User-Agent": {"claude"}, "Accept-Encoding": {"br"}, "Content-Length": {"5"}}
	if fmt.Sprint(r.Header) != fmt.Sprint(want) || r.Host != f.gate.config.Upstream.Host {
		t.Errorf("upstream saw host %s, header\n%v, want\n%v", r.Host, r.Header, want)
	}
	if fmt.Sprint(f.rec.targets) != "[localhost:3129]" {
		t.Errorf("recorded %v", f.rec.targets)
	}
}

// TestRefused sends what must reach no upstream.
func TestRefused(t *testing.T) {
	f := start(t, func(http.ResponseWriter, *http.Request) {})
	for _, request := range []string{
		"GET / HTTP/1.1", "GET /v1/../api/x HTTP/1.1", "GET /v1/%2e%2e/x HTTP/1.1", "GET /v1//x HTTP/1.1", "GET //v1/x HTTP/1.1", "GET /v1\\x HTTP/1.1",
		"GET /api/hello/x HTTP/1.1", "GET /api/oauth/usage HTTP/1.1", "GET http://api.example/other HTTP/1.1", "CONNECT example.com:443 HTTP/1.1", "CONNECT /v1/x HTTP/1.1",
		"TRACE /v1/messages HTTP/1.1", "OPTIONS * HTTP/1.1", "OPTIONS /v1/messages HTTP/1.1", "PRI * HTTP/2.0", "GET /v1/x HTTP/3.0", "GET /v1/x", "\x16\x03\x01",
		"GET /v1/x HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade", "GET /v1/x HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x",
		"GET /v1/x HTTP/1.1\r\nHost: b", "POST /v1/x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2", "POST /v1/x HTTP/1.1\r\nContent-Length: +1",
		"POST /v1/x HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", "POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "POST /v1/x HTTP/1.1\r\nTransfer-Encoding : chunked",
		"GET /v1/x HTTP/1.1\r\nA\x00B: c", "GET /v1/x HTTP/1.1\r\nA: b\x00", "GET /v1/x HTTP/1.1\r\nA: b\rC: d", "GET /v1/x HTTP/1.1\r\nA: " + strings.Repeat("b", 2*maxHeader),
	} {
		got := f.ask(t, request+"\r\nHost: a\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 5") {
			t.Errorf("%.80q: %q", request, got)
		}
	}
	if seen := f.requests(); len(seen) > 0 {
		t.Errorf("upstream saw %s %s", seen[0].Method, seen[0].URL)
	}
	if len(f.rec.targets) > 0 {
		t.Error("a refused request was recorded as connected")
	}
}

// TestSmuggling sends bytes in which a laxer reader would find a second
// request, and checks which requests upstream saw.
func TestSmuggling(t *testing.T) {
	hidden := "GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, request := range map[string]string{
		"length over chunks": "POST /v1/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + fmt.Sprint(5+len(hidden)) + "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"body is a request":  "POST /v1/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + fmt.Sprint(len(hidden)) + "\r\n\r\n" + hidden,
		"folded coding":      "POST /v1/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: y\r\n Transfer-Encoding: chunked\r\nContent-Length: " + fmt.Sprint(len(hidden)) + "\r\n\r\n" + hidden,
		"chunk extension":    "POST /v1/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1;x=\"\r\na\r\n0\r\n\r\n" + hidden,
		"trailer":            "POST /v1/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-Api-Key\r\n\r\n0\r\nX-Api-Key: mine\r\n\r\n" + hidden,
		"bare LF":            "POST /v1/a HTTP/1.1\nHost: a\nConnection: close\nContent-Length: " + fmt.Sprint(len(hidden)) + "\n\n" + hidden,
	} {
		f := start(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		got := f.ask(t, request)
		if n := strings.Count(got, "HTTP/1.1 "); n != 1 {
			t.Errorf("%s: %d answers: %q", name, n, got)
		}
		for _, r := range f.requests() {
			if r.URL.Path != "/v1/a" || fmt.Sprint(r.Header["X-Api-Key"]) != "["+key+"]" || len(r.Trailer) > 0 {
				t.Errorf("%s: upstream saw %s with %v, trailer %v", name, r.URL, r.Header, r.Trailer)
			}
		}
	}
}

func TestResponses(t *testing.T) {
	for _, c := range []struct {
		name string
		api  http.HandlerFunc
		want string
	}{
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/?"+key, http.StatusTemporaryRedirect)
		}, "HTTP/1.1 502 "},
		{"redirect without location", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) }, "HTTP/1.1 502 "},
		{"API error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401); _, _ = io.WriteString(w, "no") }, "HTTP/1.1 401 Unauthorized\r\n"},
		{"not modified", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "HTTP/1.1 304 "},
		{"cookies and the key in headers", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Set-Cookie", "a=b")
			w.Header().Set("X-Echo", "key="+r.Header.Get("X-Api-Key"))
			w.Header().Set("X-Echo-"+key, "x")
			w.Header().Set("Alt-Svc", "h3=x")
		}, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"},
		{"early hints", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", r.Header.Get("X-Api-Key"))
			w.WriteHeader(103)
			w.Header().Del("Link")
			w.WriteHeader(200)
		}, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"},
		{"trailers", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Echo")
			_, _ = io.WriteString(w, "body")
			w.(http.Flusher).Flush()
			w.Header().Set("X-Echo", r.Header.Get("X-Api-Key"))
			w.Header().Set(http.TrailerPrefix+"X-Echo-2", r.Header.Get("X-Api-Key"))
		}, "HTTP/1.1 200 OK\r\n"},
		{"endless head", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("A", strings.Repeat("b", 2*maxResponse))
		}, "HTTP/1.1 502 "},
		{"broken off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "HTTP/1.1 502 "},
	} {
		f := start(t, c.api)
		got := f.ask(t, "GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "Set-Cookie") || strings.Contains(got, "evil") || strings.Contains(got, "X-Echo") || strings.Contains(got, "Alt-Svc") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestUpstreamFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(untrusted.Close)
	for upstream, want := range map[string]string{
		"https://" + closed: "cannot reach the Claude API\"",
		untrusted.URL:       "cannot reach the Claude API: its TLS certificate is not trusted\"",
	} {
		u, _ := url.Parse(upstream)
		f := &fixture{rec: &recorder{}, log: &bytes.Buffer{}}
		f.serve(t, Config{Upstream: u, RootCAs: x509.NewCertPool()})
		got := f.ask(t, "GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 502 ") || !strings.Contains(got, want) || strings.Contains(got, "127.0.0.1") {
			t.Errorf("got %q, want %q", got, want)
		}
		if !strings.Contains(f.log.String(), "API request failed") {
			t.Error("the failure is not in the log")
		}
	}
}

// TestEvents sends each event only once the client has the one before.
func TestEvents(t *testing.T) {
	seen := make(chan struct{})
	f := start(t, func(w http.ResponseWriter, r *http.Request) {
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
	resp, err := http.Post("http://"+f.addr+"/v1/messages", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for i := range 5 {
		event := make([]byte, len("data: 0\n\n"))
		if _, err := io.ReadFull(resp.Body, event); err != nil || string(event) != fmt.Sprintf("data: %d\n\n", i) {
			t.Fatalf("event %d: %q, %v", i, event, err)
		}
		seen <- struct{}{}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestClientLeaves holds that a request ends upstream with its client.
func TestClientLeaves(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	f := start(t, func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	})
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n")
	<-began
	_ = conn.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the request went on upstream")
	}
}

func TestLimitOfConcurrentRequests(t *testing.T) {
	release, began := make(chan struct{}), make(chan struct{})
	f := start(t, func(http.ResponseWriter, *http.Request) {
		began <- struct{}{}
		<-release
	})
	var all sync.WaitGroup
	for range maxConcurrent {
		all.Go(func() { f.ask(t, "GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") })
		<-began
	}
	if got := f.ask(t, "GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 503 ") {
		t.Errorf("got %q", got)
	}
	close(release)
	all.Wait()
}

func TestUploadWithFlatMemory(t *testing.T) {
	const size = 256 << 20
	got := make(chan int64, 1)
	f := start(t, func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		got <- n
	})
	peak := heap.Watch(t)
	req, _ := http.NewRequest(http.MethodPost, "http://"+f.addr+"/v1/files", io.LimitReader(zeros{}, size))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if n := <-got; n != size {
		t.Errorf("upstream got %d bytes", n)
	}
	if grown := peak(); grown > 32<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestKeepAlive(t *testing.T) {
	f := start(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for _, path := range []string{"/v1/a", "/api/hello", "/v1/b"} {
		_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(resp.Body); string(b) != path {
			t.Errorf("got %q, want %q", b, path)
		}
	}
}

func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("found no curl, want it for this test alone")
	}
	f := start(t, func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.Method, " ", r.URL) })
	for path, want := range map[string]string{"/v1/messages?beta=true": "POST /v1/messages?beta=true", "/v1/../secret": "request refused: the path has an empty or dot segment"} {
		out, err := exec.CommandContext(t.Context(), curl, "-sS", "--noproxy", "*", "--path-as-is", "-d", "{}", "http://"+f.addr+path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s", path, err, out)
		}
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		upstream, key string
		ok            bool
	}{
		{"https://api.example", key, true},
		{"https://gateway.example/base/", key, true},
		{"http://127.0.0.1:1234", key, true},
		{"http://[::1]:1234", key, true},
		{"http://localhost:1234", key, true},
		{"http://api.example", key, false},
		{"http://127.0.0.1.evil.example", key, false},
		{"http://10.0.0.1", key, false},
		{"ftp://127.0.0.1", key, false},
		{"https://user@api.example", key, false},
		{"https://api.example?x", key, false},
		{"https:", key, false},
		{"https://api.example", "", false},
		{"https://api.example", "a\r\nb", false},
		{"https://api.example", key + "\n", false},
	} {
		u, err := url.Parse(c.upstream)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(Config{Upstream: u, Key: c.key}); (err == nil) != c.ok || err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("New(%s, %q) = %v", c.upstream, c.key, err)
		}
	}
	if _, err := New(Config{Key: key}); err == nil {
		t.Error("no upstream was accepted")
	}
}
