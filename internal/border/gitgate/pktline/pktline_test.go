package pktline

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		err            error
	}{
		{"data and the rest", "0006a\n00000001000200040005x", `data "a\n", flush "", delimiter "", end "", data "", data "x", `, io.EOF},
		{"upper case", "000Aabcdef", `data "abcdef", `, io.EOF},
		{"nothing", "", "", io.EOF},
		{"cut head", "000", "", io.ErrUnexpectedEOF},
		{"cut payload", "0008abc", "", io.ErrUnexpectedEOF},
		{"no payload at all", "0008", "", io.ErrUnexpectedEOF},
		{"length 3", "0003", "", ErrFormat},
		{"too long", "fff1" + strings.Repeat("x", 70000), "", ErrFormat},
		{"no digits", "PACK", "", ErrFormat},
		{"sign", "-001", "", ErrFormat},
	} {
		r, got := NewReader(strings.NewReader(c.in)), ""
		var err error
		for {
			var p Packet
			if p, err = r.Next(); err != nil {
				break
			}
			got += p.Kind.String() + " " + quote(p.Payload) + ", "
		}
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %s and %v, want %s and %v", c.name, got, err, c.want, c.err)
		}
	}
}

func quote(b []byte) string { return `"` + strings.ReplaceAll(string(b), "\n", `\n`) + `"` }

func TestLongest(t *testing.T) {
	long := AppendString(nil, strings.Repeat("x", MaxPayload))
	if p, err := NewReader(bytes.NewReader(long)).Next(); err != nil || len(p.Payload) != MaxPayload || string(long[:4]) != "fff0" {
		t.Errorf("%d bytes, %v", len(p.Payload), err)
	}
}

// FuzzReader asks for what is promised: a packet re-encodes to what was read,
// an error comes with no packet, and not a byte too many is read.
func FuzzReader(f *testing.F) {
	f.Add([]byte("0006a\n00000001000200040005x"))
	f.Add([]byte("FFF1"))
	f.Add([]byte("00080003"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.NewReader(b)
		for r := NewReader(in); ; {
			before := len(b) - in.Len()
			p, err := r.Next()
			if err != nil {
				if p.Kind != 0 || p.Payload != nil {
					t.Fatalf("%v with %v", err, p)
				}
				return
			}
			read := b[before : len(b)-in.Len()]
			if !bytes.EqualFold(p.Append(nil)[:4], read[:4]) || !bytes.Equal(p.Append(nil)[4:], read[4:]) {
				t.Fatalf("%q was read as %q", read, p.Append(nil))
			}
		}
	})
}
