package link

import (
	"io"
	"net"
	"testing"

	"github.com/hashicorp/yamux"

	"aibox/internal/wire"
	"aibox/internal/wire/mux"
	"aibox/test/conns"
)

func move(b *testing.B, from io.Reader, to io.Writer) {
	b.Helper()
	const piece = 32 << 10
	b.SetBytes(piece)
	go func() {
		buf := make([]byte, piece)
		for {
			if _, err := to.Write(buf); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, piece)
	for b.Loop() {
		if _, err := io.ReadFull(from, buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkThroughput is one direction of one stream: "raw" is the socket pair
// alone, "yamux" adds the multiplexer, "link" the guard and mux.
func BenchmarkThroughput(b *testing.B) {
	b.Run("raw", func(b *testing.B) {
		x, y := conns.Unix(b)
		move(b, x, y)
	})
	b.Run("yamux", func(b *testing.B) {
		x, y := conns.Unix(b)
		cfg := yamux.DefaultConfig()
		cfg.LogOutput = io.Discard
		s, _ := yamux.Server(x, cfg)
		c, _ := yamux.Client(y, cfg)
		defer s.Close()
		defer c.Close()
		w, _ := c.Open()
		r, _ := s.Accept()
		move(b, r, w)
	})
	b.Run("link in", func(b *testing.B) { linked(b, func(host, vm net.Conn) { move(b, host, vm) }) })
	b.Run("link out", func(b *testing.B) { linked(b, func(host, vm net.Conn) { move(b, vm, host) }) })
}

func linked(b *testing.B, use func(host, vm net.Conn)) {
	x, y := conns.Unix(b)
	handed := make(chan net.Conn)
	release := make(chan struct{})
	links := make(chan *Link)
	go func() {
		l, err := Serve(x, Options{Handlers: map[string]Handler{"x": {MaxStreams: 1, Serve: func(c net.Conn) {
			handed <- c
			<-release
		}}}})
		if err != nil {
			b.Error(err)
		}
		links <- l
	}()
	hello := wire.Hello{Version: wire.Version}
	if err := wire.WriteHello(y, hello); err != nil {
		b.Fatal(err)
	}
	if _, err := wire.ReadHello(y); err != nil {
		b.Fatal(err)
	}
	l := <-links
	defer l.Close()
	defer close(release)
	cfg := yamux.DefaultConfig()
	cfg.EnableKeepAlive, cfg.LogOutput, cfg.StreamCloseTimeout = false, io.Discard, 0
	frames := mux.NewConn(y, nil)
	session, err := yamux.Client(frames, cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	stream, err := session.OpenStream()
	if err != nil {
		b.Fatal(err)
	}
	vm := mux.NewStream(stream, frames)
	if err := wire.WriteService(vm, "x"); err != nil {
		b.Fatal(err)
	}
	use(<-handed, vm)
}
