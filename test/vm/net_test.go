//go:build vm

package vm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aibox/internal/run"
)

func port(t *testing.T, s *httptest.Server) int {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestHostLoopbackPorts(t *testing.T) {
	b := newBox(t)
	listed := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "from the host") })
	var hits atomic.Int32
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { hits.Add(1) })
	p, q := port(t, listed), port(t, other)
	b.config(fmt.Sprintf("allow: [\"127.0.0.1:%d\"]\n", p))
	s := b.shell()
	for _, command := range []string{
		fmt.Sprintf("curl -sS --noproxy '*' http://127.0.0.1:%d/", p),
		fmt.Sprintf("env -u http_proxy -u HTTP_PROXY -u no_proxy -u NO_PROXY curl -sS http://localhost:%d/", p),
		fmt.Sprintf("curl -sS --noproxy '' -p -x http://127.0.0.1:3128 http://127.0.0.1:%d/", p),
		fmt.Sprintf("curl -sS http://localhost:%d/", p),
	} {
		if got := s.must(command); got != "from the host" {
			t.Errorf("%s printed %q", command, got)
		}
	}
	for _, command := range []string{
		fmt.Sprintf("curl -sS --noproxy '*' http://127.0.0.1:%d/", q),
		fmt.Sprintf("curl -sSf --noproxy '' -x http://127.0.0.1:3128 http://127.0.0.1:%d/", q),
		fmt.Sprintf("curl -sSf --noproxy '' -p -x http://127.0.0.1:3128 http://localhost:%d/", q),
		fmt.Sprintf("curl -sSf --noproxy '' -p -x http://127.0.0.1:3128 http://[::1]:%d/", q),
	} {
		if out, code := s.do(command); code == 0 {
			t.Errorf("%s succeeded: %s", command, out)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the server that is not listed was reached %d times", n)
	}
}

func TestRefusedHostShowsTheConfigLine(t *testing.T) {
	b := newBox(t)
	s := b.shell()
	out, code := s.do("curl -sS -v https://refused.example/ 2>&1")
	if code == 0 || !strings.Contains(out, "403") {
		t.Errorf("curl: exit code %d, %s", code, out)
	}
	out = s.must("curl -sS -x http://127.0.0.1:3128 http://refused.example:8080/")
	if !strings.Contains(out, "refused.example:8080") || !strings.Contains(out, "allow") {
		t.Errorf("the body is %q, want it to name the line to add", out)
	}
	s.wait()
	for _, want := range []string{"refused.example:443", "refused.example:8080", "- refused.example"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("at the end the user reads %q, want %q in it", s.stderr.String(), want)
		}
	}
	log, err := os.ReadFile(filepath.Join(b.state(), "proxy.log"))
	if err != nil || !strings.Contains(string(log), "refused.example:443") {
		t.Errorf("proxy.log = %q, %v", log, err)
	}
}

func TestNamesIntoTheHostsNetworksAreRefused(t *testing.T) {
	b := newBox(t)
	var hits atomic.Int32
	target := serve(t, func(w http.ResponseWriter, r *http.Request) { hits.Add(1) })
	p := port(t, target)
	names := map[string][][]string{}
	for i, a := range []string{
		"127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255",
		"::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2002:7f00:1::",
	} {
		names[fmt.Sprintf("n%d.hosts.example", i)] = [][]string{{a}}
	}
	names["mixed.hosts.example"] = [][]string{{"192.0.2.1", "127.0.0.1"}}
	names["rebinds.hosts.example"] = [][]string{{"10.0.0.1"}, {"127.0.0.1"}}
	b.config(fmt.Sprintf("allow: [\"*.hosts.example:%d\"]\n", p))
	s := b.shell(func(r *run.Request) { r.TestOnlyHosts = names })
	for name, a := range names {
		out, code := s.do(fmt.Sprintf("curl -sS -p -v -m 20 http://%s:%d/ 2>&1", name, p))
		if code == 0 || !strings.Contains(out, "403") {
			t.Errorf("%s, which resolves to %v: exit code %d, %s", name, a, code, tail(out, 300))
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the host's server was reached %d times", n)
	}
}

// caFile writes the certificate of a TLS test server into the project.
func caFile(t *testing.T, b *box, s *httptest.Server) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(b.project, "ca.pem"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTLSPassesUntouched(t *testing.T) {
	b := newBox(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	caFile(t, b, server)
	p := port(t, server)
	b.config(fmt.Sprintf("allow: [\"127.0.0.1:%d\"]\n", p))
	if got := b.mustRun(fmt.Sprintf("curl -sS --cacert ca.pem --noproxy '*' https://127.0.0.1:%d/", p)); got != "HTTP/2.0" {
		t.Errorf("the server saw %q, want HTTP/2.0", got)
	}
}

func TestUploadOfOneGigabyte(t *testing.T) {
	b := newBox(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		fmt.Fprintf(w, "%d %s %v", n, hex.EncodeToString(sum.Sum(nil)), err)
	})
	p := port(t, server)
	b.config(fmt.Sprintf("allow: [\"127.0.0.1:%d\"]\n", p))
	s := b.shell()
	want := sha256.New()
	if _, err := io.CopyN(want, zeros{}, 1<<30); err != nil {
		t.Fatal(err)
	}
	got := s.mustWithin(4*time.Minute, fmt.Sprintf("head -c 1G /dev/zero | curl -sS -T - http://127.0.0.1:%d/", p))
	if got != fmt.Sprintf("%d %s <nil>", 1<<30, hex.EncodeToString(want.Sum(nil))) {
		t.Errorf("the server saw %q", got)
	}
	if peak := peakMemory(t, s.cmd.Process.Pid); peak > 100<<20 {
		t.Errorf("aibox took %d MiB at its peak, want at most 100", peak>>20)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// peakMemory is the largest resident size so far of a process, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			var kib int64
			if _, err := fmt.Sscan(rest, &kib); err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

func TestWebSocket(t *testing.T) {
	b := newBox(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		kind, text, err := c.Read(r.Context())
		if err == nil {
			_ = c.Write(r.Context(), kind, append([]byte("echo "), text...))
		}
	})
	p := port(t, server)
	b.config(fmt.Sprintf("allow: [\"127.0.0.1:%d\"]\n", p))
	if err := os.WriteFile(filepath.Join(b.project, "ws.py"), []byte(webSocketClient), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := b.mustRun(fmt.Sprintf("python3 ws.py %d", p)); strings.TrimSpace(got) != "echo hello" {
		t.Errorf("the client got %q", got)
	}
}

// webSocketClient tunnels through the proxy, upgrades, and sends one masked frame.
const webSocketClient = `
import socket, sys
port = sys.argv[1]
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
f = s.makefile("rwb")
def head():
    line = f.readline()
    while f.readline() not in (b"\r\n", b""): pass
    return line
assert b" 200 " in head()
f.write(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode())
f.flush()
assert b" 101 " in head()
text = b"hello"
f.write(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
f.flush()
f.read(1)
print(f.read(f.read(1)[0]).decode())
`
