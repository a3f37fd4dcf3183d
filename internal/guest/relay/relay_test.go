package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aibox/internal/wire"
	"aibox/test/conns"
)

func TestPorts(t *testing.T) {
	got := Ports(wire.Boot{API: true, GitBroker: true, IDE: true, Clipboard: true, HostPorts: []wire.HostPort{{Port: 5432}, {Port: 8080, IPv6: true}}})
	want := []Port{
		{Number: 3128, Service: "proxy"},
		{Number: 3129, Service: "api"},
		{Number: 3130, Service: "git"},
		{Number: 3131, Service: "ide"},
		{Number: 3132, Service: "clipboard"},
		{Number: 5432, Service: "proxy", Target: "localhost:5432"},
		{Number: 8080, Service: "proxy", Target: "localhost:8080"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Ports (-want +got):\n%s", diff)
	}
	if got := Ports(wire.Boot{}); len(got) != 1 {
		t.Errorf("Ports of an empty boot = %v, want the proxy alone", got)
	}
}

// start serves p on a free port and returns its address and the host's end of
// every stream that is opened.
func start(t *testing.T, p Port) (string, <-chan *net.TCPConn) {
	t.Helper()
	hosts := make(chan *net.TCPConn, maxConns+1)
	r := New(func(service string) (Conn, error) {
		if service != p.Service {
			return nil, errors.New("no such service")
		}
		guest, host := conns.TCP(t)
		hosts <- host
		return guest, nil
	})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(l, p, make(chan struct{}, maxConnsPerPort))
	t.Cleanup(r.Close)
	return l.Addr().String(), hosts
}

func dial(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	return c.(*net.TCPConn)
}

func TestHalfCloseBothWays(t *testing.T) {
	addr, hosts := start(t, Port{Service: "proxy"})
	for _, clientFirst := range []bool{true, false} {
		client := dial(t, addr)
		host := <-hosts
		first, second := client, host
		if !clientFirst {
			first, second = host, client
		}
		_, _ = io.WriteString(first, "question")
		_ = first.CloseWrite()
		if b, err := io.ReadAll(second); string(b) != "question" || err != nil {
			t.Fatalf("clientFirst=%v: read %q, %v", clientFirst, b, err)
		}
		_, _ = io.WriteString(second, "late answer")
		_ = second.CloseWrite()
		if b, err := io.ReadAll(first); string(b) != "late answer" || err != nil {
			t.Fatalf("clientFirst=%v: read %q, %v", clientFirst, b, err)
		}
	}
}

func TestConnect(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   string // what the client reads; "" means a reset
	}{
		"accepted":        {"HTTP/1.1 200 OK\r\nX: y\r\n\r\nhello", "hello"},
		"no reason":       {"HTTP/1.1 200\r\n\r\nhello", "hello"},
		"refused":         {"HTTP/1.1 403 Forbidden\r\n\r\nadd the line", ""},
		"other status":    {"HTTP/1.1 2000 x\r\n\r\nhello", ""},
		"no http":         {"SSH-2.0-x\r\n\r\nhello", ""},
		"endless headers": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", maxAnswer), ""},
		"endless line":    {"HTTP/1.1 200 OK\r\n" + strings.Repeat("a", 2*maxAnswer), ""},
		"ends early":      {"HTTP/1.1 200 OK\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			addr, hosts := start(t, Port{Service: "proxy", Target: "localhost:5432"})
			client := dial(t, addr)
			host := <-hosts
			want := "CONNECT localhost:5432 HTTP/1.1\r\nHost: localhost:5432\r\n\r\n"
			got := make([]byte, len(want))
			if _, err := io.ReadFull(host, got); err != nil || string(got) != want {
				t.Fatalf("request = %q, %v, want %q", got, err, want)
			}
			go func() {
				_, _ = io.WriteString(host, c.answer)
				_ = host.CloseWrite()
			}()
			b, err := io.ReadAll(client)
			if string(b) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("client read %q, %v, want %q", b, err, c.want)
			}
		})
	}
}

func TestUnknownServiceResets(t *testing.T) {
	r := New(func(string) (Conn, error) { return nil, errors.New("link is gone") })
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(l, Port{Service: "api"}, make(chan struct{}, 1))
	defer r.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return // the reset was faster than the dialer
	}
	defer c.Close()
	if b, err := io.ReadAll(c); err == nil {
		t.Errorf("read %q without an error", b)
	}
}

// A broken transfer must look complete to nobody.
func TestResetPassesThrough(t *testing.T) {
	addr, hosts := start(t, Port{Service: "proxy"})
	for _, clientBreaks := range []bool{true, false} {
		client := dial(t, addr)
		host := <-hosts
		one, other := client, host
		if !clientBreaks {
			one, other = host, client
		}
		_, _ = io.WriteString(one, "x")
		if _, err := io.ReadFull(other, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		reset(one)
		_ = other.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := other.Read(make([]byte, 1)); err == nil || err == io.EOF {
			t.Errorf("clientBreaks=%v: the other side read %v, want a reset", clientBreaks, err)
		}
	}
}

// A client that never reads must stop the host's writes, not fill init.
func TestBackPressure(t *testing.T) {
	addr, hosts := start(t, Port{Service: "proxy"})
	client := dial(t, addr)
	_ = client.SetReadBuffer(4096)
	host := <-hosts
	chunk := make([]byte, 64<<10)
	total := 0
	for total < 64<<20 {
		_ = host.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		n, err := host.Write(chunk)
		total += n
		if err != nil {
			break
		}
	}
	if total >= 64<<20 {
		t.Errorf("%d bytes went to a client that reads nothing", total)
	}
}

func TestConnectionsPerPortAreBounded(t *testing.T) {
	addr, hosts := start(t, Port{Service: "proxy"})
	var clients []*net.TCPConn
	for range maxConnsPerPort + 1 {
		clients = append(clients, dial(t, addr))
	}
	for range maxConnsPerPort {
		<-hosts
	}
	select {
	case <-hosts:
		t.Fatal("one connection too many was carried")
	case <-time.After(50 * time.Millisecond):
	}
	clients[0].Close()
	// The host's ends stay open here, so the slot is only free once one is closed.
	_ = clients[1].SetLinger(0)
	clients[1].Close()
	select {
	case <-hosts:
	case <-time.After(10 * time.Second):
		t.Fatal("no place was given back")
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\nrest"))
	f.Add([]byte("HTTP/1.0 403 no\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(b), maxAnswer)
		if readAnswer(r) != nil {
			return
		}
		rest, _ := io.ReadAll(r)
		head := b[:len(b)-len(rest)]
		if !bytes.HasPrefix(head, []byte("HTTP/1.")) || !bytes.HasSuffix(head, []byte("\n")) || len(head) > maxAnswer {
			t.Errorf("accepted head %q", head)
		}
	})
}
