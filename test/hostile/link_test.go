//go:build hostile

package hostile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/border/link"
	"aibox/internal/wire"
	"aibox/internal/wire/mux"
)

// sockets returns two connected ends, as aibox and QEMU have them.
func sockets(t *testing.T) (host, guest net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends []net.Conn
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "link")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		ends = append(ends, c)
	}
	return ends[0], ends[1]
}

// guest is a kernel that sends what it likes over the link of a real aibox.
type guest struct {
	net.Conn
	t      *testing.T
	served chan error // of link.Serve
	onLink chan *link.Link
	link   *link.Link // after hello
}

const echoService = "echo"

// connect serves the link with a service that echoes.
func connect(t *testing.T, handlers map[string]link.Handler) *guest {
	t.Helper()
	host, conn := sockets(t)
	g := &guest{Conn: conn, t: t, served: make(chan error, 1), onLink: make(chan *link.Link, 1)}
	if handlers == nil {
		handlers = map[string]link.Handler{echoService: {MaxStreams: 16, Serve: func(c net.Conn) { _, _ = io.Copy(c, c) }}}
	}
	go func() {
		l, err := link.Serve(host, link.Options{Handlers: handlers, HelloTimeout: 5 * time.Second})
		if l != nil {
			g.onLink <- l
		}
		g.served <- err
	}()
	t.Cleanup(func() {
		conn.Close()
		if g.link != nil {
			g.link.Close()
		}
	})
	return g
}

// holding is a service that echoes and then holds its stream open till the test ends.
func holding(t *testing.T) map[string]link.Handler {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	return map[string]link.Handler{echoService: {MaxStreams: 16, Serve: func(c net.Conn) {
		_, _ = io.Copy(c, c)
		<-over
	}}}
}

// hello greets and makes sure that the link works: that is the control.
func (g *guest) hello() {
	g.t.Helper()
	if err := wire.WriteHello(g, wire.Hello{Version: wire.Version, Nonce: [wire.NonceSize]byte{7}}); err != nil {
		g.t.Fatal(err)
	}
	if _, err := wire.ReadHello(g); err != nil {
		g.t.Fatal(err)
	}
	if err := <-g.served; err != nil {
		g.t.Fatal(err)
	}
	g.link = <-g.onLink
}

// frame sends a header and a payload.
func (g *guest) frame(h mux.Header, payload ...byte) {
	_, _ = g.Write(append(h.Append(nil), payload...)) // the host may have hung up
}

// open opens a stream of the echo service and gets its name back as an echo.
func (g *guest) open(id uint32) {
	g.t.Helper()
	name := append([]byte{byte(len(echoService))}, echoService...)
	g.frame(mux.Header{Type: mux.TypeData, Flags: mux.FlagSYN, Stream: id, Length: uint32(len(name)) + 2}, append(name, 'h', 'i')...)
	_ = g.SetReadDeadline(time.Now().Add(10 * time.Second))
	defer func() { _ = g.SetReadDeadline(time.Time{}) }()
	for got := ""; !strings.Contains(got, "hi"); {
		b := make([]byte, 12)
		if _, err := io.ReadFull(g, b); err != nil {
			g.t.Fatalf("control: a well-behaved stream: %v", err)
		}
		if h := mux.ParseHeader(b); h.Type == mux.TypeData && h.Length > 0 {
			text := make([]byte, h.Length)
			if _, err := io.ReadFull(g, text); err != nil {
				g.t.Fatal(err)
			}
			got += string(text)
		}
	}
}

// stopped wants the link to end by a violation within some seconds.
func (g *guest) stopped() {
	g.t.Helper()
	go func() { _, _ = io.Copy(io.Discard, g.Conn) }()
	select {
	case <-g.link.Done():
	case <-time.After(10 * time.Second):
		g.t.Fatal("the link goes on")
	}
	var v *link.Violation
	if err := g.link.Err(); !errors.As(err, &v) {
		g.t.Errorf("the link ended by %v, want a violation", err)
	} else {
		g.t.Log(v)
	}
}

func TestLinkHello(t *testing.T) {
	var good bytes.Buffer
	_ = wire.WriteHello(&good, wire.Hello{Version: wire.Version})
	old := bytes.Clone(good.Bytes())
	binary.BigEndian.PutUint16(old[len(old)-wire.NonceSize-2:], wire.Version+1)
	for name, send := range sorted(map[string][]byte{
		"a megabyte of noise":        bytes.Repeat([]byte("noise"), 200<<10),
		"a megabyte of half a hello": bytes.Repeat(good.Bytes()[:10], 100<<10),
		"another version":            old,
		"half a hello and then none": good.Bytes()[:20],
		"nothing":                    nil,
		"frames at once":             mux.Header{Type: mux.TypeData, Flags: mux.FlagSYN, Stream: 1}.Append(nil),
	}) {
		attack(t, "link: hello: "+name, "link: hello", true, func(t *testing.T) {
			connect(t, nil).hello() // the control
			g := connect(t, nil)
			go func() { _, _ = g.Write(send) }()
			select {
			case err := <-g.served:
				if err == nil {
					t.Error("accepted")
				} else {
					clean(t, "the error", err.Error())
				}
			case <-time.After(10 * time.Second):
				t.Error("no end")
			}
		})
	}
}

func TestLinkFrames(t *testing.T) {
	syn := func(id uint32) mux.Header { return mux.Header{Type: mux.TypeWindow, Flags: mux.FlagSYN, Stream: id} }
	for name, bad := range sorted(map[string][]mux.Header{
		"another version":                  {{Version: 1, Type: mux.TypeData, Stream: 1, Length: 1}},
		"an unknown type":                  {{Type: 9, Stream: 1}},
		"a ping":                           {{Type: mux.TypePing, Flags: mux.FlagSYN, Length: 1}},
		"a go-away":                        {{Type: mux.TypeGoAway, Length: 1}},
		"stream 0":                         {{Type: mux.TypeData, Stream: 0, Length: 1}},
		"a frame of 4 GiB":                 {{Type: mux.TypeData, Stream: 1, Length: 0xffffffff}},
		"a frame over the window":          {{Type: mux.TypeData, Stream: 1, Length: mux.Window + 1}},
		"more data than the window":        {{Type: mux.TypeData, Stream: 1, Length: mux.Window}},
		"4 GiB of window":                  {{Type: mux.TypeWindow, Stream: 1, Length: 0xffffffff}},
		"window that was not used":         {{Type: mux.TypeWindow, Stream: 1, Length: 1 << 20}},
		"a stream of the host's numbers":   {syn(2)},
		"a stream twice":                   {syn(1)},
		"a number far ahead":               {syn(1 << 30)},
		"data on a stream nobody opened":   {{Type: mux.TypeData, Stream: 99999, Length: 1}},
		"data on the host's unopened one":  {{Type: mux.TypeData, Stream: 8, Length: 1}},
		"an accepted stream of its own":    {{Type: mux.TypeWindow, Flags: mux.FlagACK, Stream: 1}},
		"an end twice":                     {{Type: mux.TypeWindow, Flags: mux.FlagFIN, Stream: 1}, {Type: mux.TypeWindow, Flags: mux.FlagFIN, Stream: 1}},
		"data after the end":               {{Type: mux.TypeWindow, Flags: mux.FlagFIN, Stream: 1}, {Type: mux.TypeData, Stream: 1, Length: 1}},
		"a reset with a length":            {{Type: mux.TypeWindow, Flags: mux.FlagRST, Stream: 1, Length: 5}},
		"flags that contradict each other": {{Type: mux.TypeWindow, Flags: mux.FlagSYN | mux.FlagRST, Stream: 3}},
		"unknown flags":                    {{Type: mux.TypeWindow, Flags: 0x8000, Stream: 1}},
		"a frame that says nothing":        {{Type: mux.TypeWindow, Stream: 1}},
	}) {
		attack(t, "link: "+name, "link: guard", true, func(t *testing.T) {
			// A stream that both sides ended is forgotten, and data for it dropped: the
			// host's side of this one stays open.
			g := connect(t, holding(t))
			g.hello()
			g.open(1)
			for _, h := range bad {
				g.frame(h, bytes.Repeat([]byte{'x'}, int(min(h.Length, mux.Window)))...)
			}
			g.stopped()
		})
	}
	attack(t, "link: a second hello", "link: guard", true, func(t *testing.T) {
		g := connect(t, nil)
		g.hello()
		g.open(1)
		_ = wire.WriteHello(g, wire.Hello{Version: wire.Version})
		g.stopped()
		if !strings.Contains(g.link.Err().Error(), "restarted") {
			t.Errorf("reason: %v", g.link.Err())
		}
	})
}

// heap is what the process holds.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// maxGrowth is what a flood over one link may take at its worst.
const maxGrowth = 160 << 20

func TestLinkFloods(t *testing.T) {
	attack(t, "link: 300 streams at a time", "link: limits", true, func(t *testing.T) {
		g := connect(t, nil)
		g.hello()
		g.open(1)
		for id := uint32(3); id < 3+2*300; id += 2 {
			g.frame(mux.Header{Type: mux.TypeWindow, Flags: mux.FlagSYN, Stream: id})
		}
		g.stopped()
	})
	attack(t, "link: 200000 streams opened and reset", "link: limits", false, func(t *testing.T) {
		g := connect(t, nil)
		g.hello()
		g.open(1)
		before := heap()
		go func() { _, _ = io.Copy(io.Discard, g.Conn) }()
		for id := uint32(3); id < 400000; id += 2 {
			g.frame(mux.Header{Type: mux.TypeWindow, Flags: mux.FlagSYN, Stream: id})
			g.frame(mux.Header{Type: mux.TypeWindow, Flags: mux.FlagRST, Stream: id})
		}
		if grew := int64(heap()) - int64(before); grew > maxGrowth {
			t.Errorf("it took %d MiB", grew>>20)
		}
	})
	attack(t, "link: streams that never name their service", "link: handshake time", false, func(t *testing.T) {
		g := connect(t, nil)
		g.hello()
		for id := uint32(1); id < 2*250; id += 2 {
			g.frame(mux.Header{Type: mux.TypeData, Flags: mux.FlagSYN, Stream: id, Length: 1}, 4)
		}
		reset := make(chan int, 1)
		go func() {
			n := 0
			for b := make([]byte, 12); n < 250; {
				if _, err := io.ReadFull(g, b); err != nil {
					break
				}
				if h := mux.ParseHeader(b); h.Flags&(mux.FlagFIN|mux.FlagRST) != 0 {
					n++
				}
			}
			reset <- n
		}()
		select {
		case n := <-reset:
			if n < 250 {
				t.Errorf("only %d of 250 were closed", n)
			}
		case <-time.After(link.HandshakeTimeout + 10*time.Second):
			t.Error("they stay open")
		}
	})
	for name, service := range sorted(map[string][]byte{
		"a service of no name": {0}, "a service of 255 bytes": append([]byte{255}, bytes.Repeat([]byte{'a'}, 255)...), "an unknown service": []byte("\x05other"),
		"a service in capitals": []byte("\x04ECHO"), "a service with escape codes": []byte("\x04\x1b[2J"), "a service with a path": []byte("\x04../e"),
	}) {
		attack(t, "link: "+name, "link: services", true, func(t *testing.T) {
			g := connect(t, nil)
			g.hello()
			g.open(1)
			g.frame(mux.Header{Type: mux.TypeData, Flags: mux.FlagSYN, Stream: 3, Length: uint32(len(service))}, service...)
			g.closed(3)
			g.open(5) // the link itself goes on
		})
	}
	attack(t, "link: a gigabyte without reading", "link: windows", true, func(t *testing.T) {
		g := connect(t, nil)
		g.hello()
		g.open(1)
		before := heap()
		g.sendUnread(1 << 30)
		if grew := int64(heap()) - int64(before); grew > maxGrowth {
			t.Errorf("it took %d MiB", grew>>20)
		}
	})
}

// closed waits for the end of a stream.
func (g *guest) closed(id uint32) {
	g.t.Helper()
	_ = g.SetReadDeadline(time.Now().Add(10 * time.Second))
	defer func() { _ = g.SetReadDeadline(time.Time{}) }()
	for b := make([]byte, 12); ; {
		if _, err := io.ReadFull(g, b); err != nil {
			g.t.Fatalf("stream %d: %v", id, err)
		}
		h := mux.ParseHeader(b)
		if h.Type == mux.TypeData {
			_, _ = io.CopyN(io.Discard, g, int64(h.Length))
		}
		if h.Stream == id && h.Flags&(mux.FlagFIN|mux.FlagRST) != 0 {
			return
		}
	}
}

// sendUnread sends what the windows allow on many streams, over and over, and
// reads nothing: the host can only stop reading, stop the link, or buffer.
func (g *guest) sendUnread(total int) {
	payload := bytes.Repeat([]byte{'x'}, 64<<10)
	name := append([]byte{byte(len(echoService))}, echoService...)
	sent := 0
	for id := uint32(3); sent < total; id += 2 {
		_ = g.SetWriteDeadline(time.Now().Add(3 * time.Second))
		b := mux.Header{Type: mux.TypeData, Flags: mux.FlagSYN, Stream: id, Length: uint32(len(name))}.Append(nil)
		b = append(b, name...)
		for range 3 {
			b = mux.Header{Type: mux.TypeData, Stream: id, Length: uint32(len(payload))}.Append(b)
			b = append(b, payload...)
		}
		n, err := g.Write(b)
		sent += n
		if err != nil {
			break
		}
	}
	g.t.Logf("the host took %d MiB", sent>>20)
}
