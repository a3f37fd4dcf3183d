package link

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"aibox/internal/wire/mux"
)

// frame is a header that the VM sends (or the host, when out is set).
type frame struct {
	out    bool
	typ    uint8
	flags  uint16
	stream uint32
	length uint32
}

func (f frame) header() mux.Header {
	return mux.Header{Type: f.typ, Flags: f.flags, Stream: f.stream, Length: f.length}
}

// play runs frames through a new guard and returns the first error.
func play(frames []frame) (at int, err error) {
	g := newGuard()
	for i, f := range frames {
		if f.out {
			g.Out(f.header())
		} else if err := g.In(f.header()); err != nil {
			return i, err
		}
	}
	return len(frames), nil
}

const (
	data, window       = mux.TypeData, mux.TypeWindow
	syn, ack, fin, rst = mux.FlagSYN, mux.FlagACK, mux.FlagFIN, mux.FlagRST
)

var (
	guestSYN = frame{typ: window, flags: syn, stream: 1}
	hostSYN  = frame{out: true, typ: window, flags: syn, stream: 2}
)

func opens(n int, between ...frame) []frame {
	var fs []frame
	for i := range n {
		fs = append(fs, frame{typ: window, flags: syn, stream: uint32(2*i + 1)})
		for _, f := range between {
			f.stream = uint32(2*i + 1)
			fs = append(fs, f)
		}
	}
	return fs
}

// TestGuard has each attack beside its largest harmless neighbour. An empty
// want means that all frames pass; else the last one is refused.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []frame
		want   string
	}{
		{"ping", []frame{{typ: mux.TypePing, flags: syn, length: 7}}, "sent a ping"},
		{"go-away", []frame{{typ: mux.TypeGoAway}}, "go-away"},
		{"unknown type", []frame{{typ: 4, stream: 1}}, "type 4"},
		{"unknown flag", []frame{guestSYN, {typ: window, flags: 16, stream: 1, length: 0}}, "flags 0x10"},
		{"reset and more", []frame{guestSYN, {typ: window, flags: rst | fin, stream: 1}}, "flags 0xc"},
		{"reset with payload", []frame{guestSYN, {typ: data, flags: rst, stream: 1, length: 1}}, "reset with a length"},
		{"session stream", []frame{{typ: data, flags: syn, length: 1}}, "stream 0"},
		{"nothing", []frame{guestSYN, {typ: window, stream: 1}}, "says nothing"},

		{"host's number", []frame{{typ: window, flags: syn, stream: 2}}, "host's numbers"},
		{"twice", []frame{guestSYN, guestSYN}, "used or out of order"},
		{"number again after its end", []frame{guestSYN, {typ: window, flags: rst, stream: 1}, guestSYN}, "used or out of order"},
		{"a little out of order", []frame{{typ: window, flags: syn, stream: 5}, {typ: window, flags: syn, stream: 1}}, ""},
		{"far ahead", []frame{{typ: window, flags: syn, stream: 2*numberSlack + 1}}, "used or out of order"},
		{"never opened by the VM", []frame{guestSYN, {typ: data, stream: 3, length: 1}}, "nobody opened"},
		{"never opened by the host", []frame{hostSYN, {typ: data, stream: 4, length: 1}}, "nobody opened"},
		{"after the host's reset", []frame{guestSYN, {out: true, typ: window, flags: rst, stream: 1}, {typ: data, stream: 1, length: 9}}, ""},

		{"most streams", opens(MaxStreams), ""},
		{"too many streams", opens(MaxStreams + 1), "more than 256 streams"},
		{"half-closed streams count", append(opens(MaxStreams, frame{typ: window, flags: fin}), frame{typ: window, flags: syn, stream: 2*MaxStreams + 1}), "more than 256 streams"},
		{"opened and reset, never accepted", opens(MaxWaiting+1, frame{typ: window, flags: rst})[:2*MaxWaiting+1], "before the host accepted"},

		{"whole window", []frame{guestSYN, {typ: data, stream: 1, length: mux.Window}}, ""},
		{"over the window at once", []frame{guestSYN, {typ: data, stream: 1, length: mux.Window + 1}}, "over the window"},
		{"over the window in two", []frame{guestSYN, {typ: data, stream: 1, length: mux.Window}, {typ: data, stream: 1, length: 1}}, "into a window of 0"},
		{"window given back", []frame{guestSYN, {typ: data, stream: 1, length: mux.Window},
			{out: true, typ: window, stream: 1, length: 5}, {typ: data, stream: 1, length: 5}}, ""},
		{"data after the end", []frame{guestSYN, {typ: data, flags: fin, stream: 1, length: 1}, {typ: data, stream: 1, length: 1}}, "had ended"},
		{"two ends", []frame{guestSYN, {typ: window, flags: fin, stream: 1}, {typ: window, flags: fin, stream: 1}}, "ended a stream twice"},
		{"window after the end", []frame{guestSYN, {typ: window, flags: fin, stream: 1}, {out: true, typ: data, stream: 1, length: 5},
			{typ: window, stream: 1, length: 5}}, ""},

		{"window of nothing", []frame{guestSYN, {typ: window, stream: 1, length: 1}}, "gave back 1 bytes of window and was sent 0"},
		{"window with the opening", []frame{{typ: window, flags: syn, stream: 1, length: 1 << 31}}, "gave back"},
		{"too much window", []frame{hostSYN, {typ: window, flags: ack, stream: 2}, {out: true, typ: data, stream: 2, length: 9},
			{typ: window, stream: 2, length: 10}}, "gave back 10 bytes of window and was sent 9"},

		{"accept", []frame{hostSYN, {typ: window, flags: ack, stream: 2}}, ""},
		{"accept twice", []frame{hostSYN, {typ: window, flags: ack, stream: 2}, {typ: window, flags: ack, stream: 2}}, "did not open"},
		{"accept its own", []frame{guestSYN, {typ: window, flags: ack, stream: 1}}, "did not open"},
	} {
		at, err := play(c.frames)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: frame %d refused: %v", c.name, at, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case c.want != "" && at != len(c.frames)-1:
			t.Errorf("%s: frame %d refused, want the last: %v", c.name, at, err)
		}
	}
}

// TestFinishedStreamsDoNotCount opens many more streams than the limit, each
// ended by both sides and accepted.
func TestFinishedStreamsDoNotCount(t *testing.T) {
	g := newGuard()
	for i := range 10 * MaxStreams {
		id := uint32(2*i + 1)
		if err := g.In(frame{typ: window, flags: syn, stream: id}.header()); err != nil {
			t.Fatal(err)
		}
		g.accepted()
		g.Out(frame{typ: window, flags: fin, stream: id}.header())
		if err := g.In(frame{typ: window, flags: fin, stream: id}.header()); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.flows) != 0 || g.living != 0 || g.waiting != 0 {
		t.Errorf("%d flows, %d living, %d waiting are left", len(g.flows), g.living, g.waiting)
	}
}

func TestViolationEndsTheLinkWithItsReason(t *testing.T) {
	link, conn := serve(t, Options{})
	sayHello(t, conn)
	var flood []byte
	for _, f := range opens(MaxStreams + 1) {
		flood = f.header().Append(flood)
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_, _ = conn.Write(flood)
	l := link()
	<-l.Done()
	var v *Violation
	// Which of the two limits is met depends on how fast the host accepts.
	if err := l.Err(); !errors.As(err, &v) || !strings.HasPrefix(err.Error(), "the VM opened more than 256 streams") {
		t.Errorf("Err = %v", err)
	}
}

func TestRestartOfTheProtocol(t *testing.T) {
	link, conn := serve(t, Options{})
	sayHello(t, conn)
	_, _ = conn.Write(helloOf(1))
	<-link().Done()
	if err := link().Err(); err == nil || err.Error() != "the VM restarted the link's protocol" {
		t.Errorf("Err = %v", err)
	}
}

// TestVMThatStopsReading fills every queue of the host and then breaks the
// protocol: the link must end at once all the same.
func TestVMThatStopsReading(t *testing.T) {
	full := make(chan struct{}, 100)
	link, conn := serve(t, Options{Handlers: map[string]Handler{"x": {MaxStreams: MaxStreams, Serve: func(c net.Conn) {
		full <- struct{}{}
		_, _ = io.Copy(c, endless{})
	}}}})
	sayHello(t, conn)
	var open []byte
	for i := range uint32(100) {
		open = frame{typ: data, flags: syn, stream: 2*i + 1, length: 2}.header().Append(open)
		open = append(open, "\x01x"...)
	}
	_, _ = conn.Write(open)
	// Reads until all streams were accepted, and then never again.
	for n := 0; n < cap(full); n = len(full) {
		_, _ = io.ReadFull(conn, make([]byte, mux.HeaderSize))
	}
	_, _ = conn.Write(frame{typ: mux.TypePing, flags: syn}.header().Append(nil))
	<-link().Done()
	if err := link().Err(); err == nil || !strings.Contains(err.Error(), "ping") {
		t.Errorf("Err = %v", err)
	}
}
