package link

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"aibox/internal/wire"
)

// host answers the hello as change says and serves the multiplexer.
func host(t *testing.T, conn net.Conn, change func(*wire.Hello)) *yamux.Session {
	t.Helper()
	h, err := wire.ReadHello(conn)
	if err != nil {
		t.Errorf("host: %v", err)
		return nil
	}
	change(&h)
	if err := wire.WriteHello(conn, h); err != nil {
		t.Errorf("host: %v", err)
		return nil
	}
	session, err := yamux.Server(conn, muxConfig())
	if err != nil {
		t.Errorf("host: %v", err)
		return nil
	}
	return session
}

func dial(t *testing.T, change func(*wire.Hello)) (*Link, *yamux.Session, error) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	sessions := make(chan *yamux.Session, 1)
	go func() { sessions <- host(t, b, change) }()
	link, err := Dial(a)
	return link, <-sessions, err
}

func TestDialRefusesAnotherBootsAnswer(t *testing.T) {
	_, _, err := dial(t, func(h *wire.Hello) { h.Nonce[0]++ })
	if err == nil || !strings.Contains(err.Error(), "another boot") {
		t.Errorf("Dial = %v", err)
	}
}

func TestStreamsBothWays(t *testing.T) {
	link, session, err := dial(t, func(*wire.Hello) {})
	if err != nil {
		t.Fatal(err)
	}
	go link.Serve(map[string]func(net.Conn){"ssh": func(c net.Conn) { _, _ = io.WriteString(c, "served") }})

	go func() {
		s, err := session.AcceptStream()
		if err != nil {
			return
		}
		name, _ := wire.ReadService(s)
		b, _ := io.ReadAll(s) // ends at the guest's half close
		_, _ = io.WriteString(s, name+":"+string(b))
		s.Close()
	}()
	out, err := link.Open("proxy")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(out, "ask")
	_ = out.CloseWrite()
	if b, err := io.ReadAll(out); string(b) != "proxy:ask" || err != nil {
		t.Errorf("answer = %q, %v", b, err)
	}

	for service, want := range map[string]string{"ssh": "served", "other": ""} {
		in, err := session.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		_ = wire.WriteService(in, service)
		if b, err := io.ReadAll(in); string(b) != want || err != nil {
			t.Errorf("%s = %q, %v, want %q", service, b, err, want)
		}
	}
}

func TestCloseWakesReader(t *testing.T) {
	link, _, err := dial(t, func(*wire.Hello) {})
	if err != nil {
		t.Fatal(err)
	}
	s, err := link.Open("proxy")
	if err != nil {
		t.Fatal(err)
	}
	woken := make(chan error, 1)
	go func() {
		_, err := s.Read(make([]byte, 1))
		woken <- err
	}()
	s.Close()
	select {
	case err := <-woken:
		if err == nil {
			t.Error("Read of a closed stream succeeded")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Close left the reader waiting")
	}
}

func TestDoneWhenHostIsGone(t *testing.T) {
	link, session, err := dial(t, func(*wire.Hello) {})
	if err != nil {
		t.Fatal(err)
	}
	session.Close()
	select {
	case <-link.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the link did not end")
	}
}
