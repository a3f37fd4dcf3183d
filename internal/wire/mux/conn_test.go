package mux

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// script is a connection that reads what it was given and keeps what is written.
type script struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (s *script) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error) { return s.out.Write(p) }

func frames(hs ...Header) []byte {
	var b []byte
	for _, h := range hs {
		b = h.Append(b)
		b = append(b, bytes.Repeat([]byte{'x'}, int(h.payload()))...)
	}
	return b
}

func TestReadPassesFramesOnAndPutsResetsFirst(t *testing.T) {
	syn := Header{Type: TypeWindow, Flags: FlagSYN, Stream: 1}
	data := Header{Type: TypeData, Stream: 1, Length: 3}
	c := NewConn(&script{in: bytes.NewReader(frames(syn, data, data))}, nil)
	got := make([]byte, len(frames(syn)))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, frames(syn)) {
		t.Fatalf("first frame %x, %v", got, err)
	}
	c.Reset(7)
	c.Reset(9)
	got, err := io.ReadAll(c)
	want := frames(resetFrame(7), resetFrame(9), data, data)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %x, %v, want %x", got, err, want)
	}
}

func TestWriteKeepsFramesWholeAroundResets(t *testing.T) {
	data := Header{Type: TypeData, Stream: 1, Length: 10}
	fin := Header{Type: TypeWindow, Flags: FlagFIN, Stream: 1}
	whole := frames(data, fin)
	rst := frames(resetFrame(7))
	for at := 0; at <= len(whole); at++ {
		s := &script{in: bytes.NewReader(nil)}
		c := NewConn(s, nil)
		for i, b := range whole {
			if i == at {
				c.Reset(7)
			}
			if n, err := c.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if at == len(whole) {
			c.Reset(7)
		}
		// The reset stands before, between or after the two frames, never within one.
		var found bool
		for _, cut := range []int{0, len(frames(data)), len(whole)} {
			want := append(append(bytes.Clone(whole[:cut]), rst...), whole[cut:]...)
			found = found || bytes.Equal(s.out.Bytes(), want)
		}
		if !found {
			t.Errorf("reset before byte %d: wrote %x", at, s.out.Bytes())
		}
	}
}

func TestCheckerSeesBothDirections(t *testing.T) {
	in := []Header{{Type: TypeWindow, Flags: FlagSYN, Stream: 1}, {Type: TypeData, Stream: 1, Length: 2}}
	out := []Header{{Type: TypeWindow, Flags: FlagACK, Stream: 1}, {Type: TypeData, Stream: 1, Length: 5}}
	seen := &recorder{}
	c := NewConn(&script{in: bytes.NewReader(frames(in...))}, seen)
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(frames(out...)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&recorder{in: in, out: out}, seen, cmp.AllowUnexported(recorder{})); diff != "" {
		t.Error(diff)
	}
}

type recorder struct{ in, out []Header }

func (r *recorder) In(h Header) error { r.in = append(r.in, h); return nil }
func (r *recorder) Out(h Header)      { r.out = append(r.out, h) }

func FuzzConn(f *testing.F) {
	f.Add(frames(Header{Type: TypeData, Flags: FlagSYN, Stream: 1, Length: 4}, Header{Type: TypePing, Length: 9}))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xffabc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &script{in: bytes.NewReader(b)}
		seen := &recorder{}
		c := NewConn(s, seen)
		got, _ := io.ReadAll(c)
		if !bytes.HasPrefix(b, got) || len(b)-len(got) >= HeaderSize {
			t.Errorf("read %x of %x", got, b)
		}
		for _, h := range seen.in {
			if again := ParseHeader(h.Append(nil)); again != h {
				t.Errorf("%v re-encoded is %v", h, again)
			}
		}
		if n, err := c.Write(b); n != len(b) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
		if w := s.out.Bytes(); !bytes.HasPrefix(b, w) || len(b)-len(w) > HeaderSize {
			t.Errorf("wrote %x of %x", w, b)
		}
	})
}
