package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"aibox/internal/wire"
	"aibox/internal/wire/mux"
)

const patience = 20 * time.Second

// guest is the VM's side of a link, as an honest guest builds it.
type guest struct {
	t       *testing.T
	conn    net.Conn
	frames  *mux.Conn
	session *yamux.Session
}

func newGuest(t *testing.T, conn net.Conn) *guest {
	t.Helper()
	sayHello(t, conn)
	frames := mux.NewConn(conn, nil)
	session, err := yamux.Client(frames, &yamux.Config{
		AcceptBacklog: mux.Backlog, KeepAliveInterval: time.Hour, ConnectionWriteTimeout: writeTimeout,
		MaxStreamWindowSize: mux.Window, Logger: silent{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &guest{t: t, conn: conn, frames: frames, session: session}
}

func (g *guest) open(service string) *mux.Stream {
	g.t.Helper()
	s, err := g.session.OpenStream()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := wire.WriteService(s, service); err != nil {
		g.t.Fatal(err)
	}
	return mux.NewStream(s, g.frames)
}

func sayHello(t *testing.T, conn net.Conn) {
	t.Helper()
	hello := wire.Hello{Version: wire.Version, Nonce: [16]byte{1, 2}}
	if err := wire.WriteHello(conn, hello); err != nil {
		t.Fatal(err)
	}
	if got, err := wire.ReadHello(conn); err != nil || got != hello {
		t.Fatalf("answer %v, %v", got, err)
	}
}

// serve starts a link over a pipe and returns the guest's end of it.
func serve(t *testing.T, opts Options) (func() *Link, net.Conn) {
	t.Helper()
	checkLeaks(t)
	host, vm := net.Pipe()
	links := make(chan *Link, 1)
	go func() {
		l, err := Serve(host, opts)
		if err != nil {
			t.Error(err)
		}
		links <- l
	}()
	var l *Link
	get := func() *Link {
		if l == nil {
			l = <-links
		}
		return l
	}
	t.Cleanup(func() {
		if get() != nil {
			l.Close()
		}
		_ = vm.Close()
	})
	return get, vm
}

// checkLeaks fails the test if a goroutine of the link outlives it.
func checkLeaks(t *testing.T) {
	t.Cleanup(func() {
		b := make([]byte, 1<<20)
		for end := time.Now().Add(patience); ; runtime.Gosched() {
			all := string(b[:runtime.Stack(b, true)])
			own := 0
			for _, g := range strings.Split(all, "\n\n") {
				if strings.Contains(g, "hashicorp/yamux") || strings.Contains(g, "wire/mux") {
					own++
				}
			}
			if own == 0 {
				return
			}
			if time.Now().After(end) {
				t.Errorf("goroutines left:\n%s", all)
				return
			}
		}
	})
}

func echo(c net.Conn) {
	_, _ = io.Copy(c, c)
	_ = c.(interface{ CloseWrite() error }).CloseWrite()
}

func TestGuestOpensServices(t *testing.T) {
	_, conn := serve(t, Options{Handlers: map[string]Handler{"echo": {Serve: echo, MaxStreams: 4}}})
	g := newGuest(t, conn)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB, four windows
	for range 4 {
		s := g.open("echo")
		go func() {
			_, _ = s.Write(want)
			_ = s.CloseWrite()
		}()
		got, err := io.ReadAll(s)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("read %d bytes, %v, want %d", len(got), err, len(want))
		}
		_ = s.Close()
	}
}

func TestHostOpensServices(t *testing.T) {
	link, conn := serve(t, Options{})
	g := newGuest(t, conn)
	go func() {
		s, err := g.session.AcceptStream()
		if err != nil {
			return
		}
		name, _ := wire.ReadService(s)
		_, _ = io.WriteString(s, "this is "+name)
		_ = s.Close()
	}()
	c, err := link().Open(t.Context(), "ssh")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := io.ReadAll(c); err != nil || string(got) != "this is ssh" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestOpenWhenTheVMReadsNothing(t *testing.T) {
	link, conn := serve(t, Options{})
	sayHello(t, conn)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if c, err := link().Open(ctx, "ssh"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open = %v, %v, want a deadline error", c, err)
	}
}

func TestRefusedStreamsLeaveTheLinkAlone(t *testing.T) {
	release := make(chan struct{})
	block := func(net.Conn) { <-release }
	_, conn := serve(t, Options{Handlers: map[string]Handler{
		"one":   {Serve: block, MaxStreams: 1},
		"panic": {Serve: func(net.Conn) { panic("bug") }, MaxStreams: 1},
		"echo":  {Serve: echo, MaxStreams: 1},
	}})
	defer close(release)
	g := newGuest(t, conn)
	g.open("one")
	for _, service := range []string{"one", "unknown", "panic"} {
		s := g.open(service)
		broke := service == "panic" // else the end could pass for that of an answer
		if got, err := io.ReadAll(s); len(got) > 0 || (err != nil) != broke {
			t.Errorf("%s: read %q, %v, want nothing, broken off: %v", service, got, err, broke)
		}
		_ = s.Close()
	}
	raw, err := g.session.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = raw.Write([]byte{200, 'x'})
	if got, err := io.ReadAll(raw); len(got) > 0 || err != nil {
		t.Errorf("bad name: read %q, %v, want the end", got, err)
	}
	_ = raw.Close()
	s := g.open("echo")
	_, _ = io.WriteString(s, "still here")
	_ = s.CloseWrite()
	if got, err := io.ReadAll(s); err != nil || string(got) != "still here" {
		t.Errorf("echo afterwards: %q, %v", got, err)
	}
}

func TestSilentStreamIsClosed(t *testing.T) {
	host, vm := net.Pipe()
	defer vm.Close()
	s := newServices(Options{})
	s.handshake = 20 * time.Millisecond
	go s.serve(host)
	if _, err := vm.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v, want the end", err)
	}
}

func TestHello(t *testing.T) {
	for _, c := range []struct {
		name string
		say  []byte
		want error
	}{
		{"silence", nil, context.DeadlineExceeded},
		{"another version", helloOf(wire.Version + 1), wire.ErrVersion},
		{"half", helloOf(wire.Version)[:20], io.ErrUnexpectedEOF},
	} {
		host, vm := net.Pipe()
		go func() {
			_, _ = vm.Write(c.say)
			if c.say != nil {
				_ = vm.Close()
			}
		}()
		l, err := Serve(host, Options{HelloTimeout: 100 * time.Millisecond})
		timeout := c.want == context.DeadlineExceeded && isTimeout(err)
		if l != nil || !timeout && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, l, err, c.want)
		}
		if _, err := host.Write([]byte{1}); err == nil {
			t.Errorf("%s: the connection is still open", c.name)
		}
		_ = vm.Close()
	}
}

func helloOf(version uint16) []byte {
	var b bytes.Buffer
	_ = wire.WriteHello(&b, wire.Hello{Version: version})
	return b.Bytes()
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

func TestEndOfTheVMIsNoError(t *testing.T) {
	link, conn := serve(t, Options{Handlers: map[string]Handler{"echo": {Serve: echo, MaxStreams: 1}}})
	g := newGuest(t, conn)
	g.open("echo")
	_ = conn.Close()
	<-link().Done()
	if err := link().Err(); err != nil {
		t.Errorf("Err = %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := link().Wait(ctx); err != nil {
		t.Error(err)
	}
}
