package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"aibox/internal/wire/mux"
)

// tape is a VM that says what it was given, reads everything, and hangs up.
type tape struct {
	net.Conn
	in *bytes.Reader
}

func (c *tape) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *tape) Write(p []byte) (int, error) { return len(p), nil }
func (c *tape) Close() error                { return nil }
func (c *tape) SetDeadline(time.Time) error { return nil }
func (c *tape) LocalAddr() net.Addr         { return nil }
func (c *tape) RemoteAddr() net.Addr        { return nil }

func encode(frames ...frame) []byte {
	var b []byte
	for _, f := range frames {
		b = f.header().Append(b)
		if f.typ == data {
			b = append(b, make([]byte, f.length)...)
		}
	}
	return b
}

// FuzzGuard feeds a whole link. Whatever the bytes, it ends without a panic,
// and never by an error of yamux's own: the guard is at least as strict.
func FuzzGuard(f *testing.F) {
	f.Add(encode(guestSYN, frame{typ: data, stream: 1, length: 3}, frame{typ: window, flags: fin, stream: 1}))
	f.Add(append(encode(frame{typ: data, flags: syn | fin, stream: 1, length: 5}), encode(frame{typ: window, flags: rst, stream: 1})...))
	f.Add(append(frame{typ: data, flags: syn, stream: 1, length: 5}.header().Append(nil), "\x04echo"...))
	f.Add(encode(frame{typ: mux.TypePing, flags: syn}))
	f.Add(encode(opens(20, frame{typ: window, flags: rst})...))
	f.Add(helloOf(1))
	f.Add(encode(frame{typ: window, flags: syn, stream: 5}, guestSYN, frame{typ: data, stream: 5, length: 40}))
	f.Fuzz(func(t *testing.T, b []byte) {
		conn := &tape{in: bytes.NewReader(append(helloOf(1), b...))}
		l, err := Serve(conn, Options{Handlers: map[string]Handler{"echo": {Serve: echo, MaxStreams: 2}}})
		if err != nil {
			t.Fatal(err)
		}
		<-l.Done()
		var v *Violation
		if err := l.Err(); err != nil && !errors.As(err, &v) {
			t.Errorf("%v", err)
		}
	})
}

// FuzzShape asks for what is promised of each frame that passes.
func FuzzShape(f *testing.F) {
	f.Add(guestSYN.header().Append(nil))
	f.Add(frame{typ: data, flags: fin, stream: 9, length: mux.Window}.header().Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < mux.HeaderSize {
			return
		}
		h := mux.ParseHeader(b)
		if !bytes.Equal(h.Append(nil), b[:mux.HeaderSize]) {
			t.Errorf("%v re-encodes to %x, not %x", h, h.Append(nil), b)
		}
		if checkShape(h) != nil {
			return
		}
		if h.Version != 0 || h.Type > window || h.Stream == 0 || h.Flags > 15 ||
			h.Type == data && h.Length > mux.Window || h.Flags&rst != 0 && h.Length != 0 {
			t.Errorf("%+v passed", h)
		}
	})
}

// FuzzNumbers compares numbers with a set: none is taken twice.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte{1, 0, 3, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var n numbers
		seen := make(map[uint32]bool)
		for r := bytes.NewReader(b); ; {
			var two [2]byte
			if _, err := io.ReadFull(r, two[:]); err != nil {
				return
			}
			id := uint32(two[0]) | uint32(two[1])<<8 | 1
			if n.take(id) {
				if seen[id] {
					t.Fatalf("%d was taken twice", id)
				}
				seen[id] = true
			}
			if seen[id] && !n.below(id) {
				t.Fatalf("%d was taken and is not below", id)
			}
		}
	})
}
