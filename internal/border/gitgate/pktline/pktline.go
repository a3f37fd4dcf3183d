// Package pktline reads and writes git's pkt-lines: four hexadecimal digits of
// length, themselves included, and as many bytes less four. Both the VM and
// git servers send them; a length is checked before anything is read for it.
package pktline

import (
	"errors"
	"fmt"
	"io"
)

// Limits of the format in bytes.
const (
	MaxPacket  = 65520 // with the length
	MaxPayload = MaxPacket - headSize
	headSize   = 4
)

// Kind says what a packet is.
type Kind int

// The kinds of packets.
const (
	Data  Kind = iota
	Flush      // 0000
	Delim      // 0001
	End        // 0002
)

func (k Kind) String() string { return [...]string{"data", "flush", "delimiter", "end"}[k] }

// Packet is one packet. Payload is set for Data alone and may be empty.
type Packet struct {
	Kind    Kind
	Payload []byte
}

// ErrFormat is wrapped by the error for a length that the format does not have.
var ErrFormat = errors.New("malformed pkt-line")

// Reader reads packets.
type Reader struct {
	r   io.Reader
	buf [MaxPacket]byte
}

// NewReader returns a reader that takes from r exactly the packets' bytes, in
// small reads: r should be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next reads one packet, whose payload is valid until the next call. At the end
// between two packets the error is io.EOF, within one io.ErrUnexpectedEOF.
func (r *Reader) Next() (Packet, error) {
	if _, err := io.ReadFull(r.r, r.buf[:headSize]); err != nil {
		return Packet{}, err
	}
	n, ok := length(r.buf[:headSize])
	switch {
	case !ok || n == 3 || n > MaxPacket:
		return Packet{}, fmt.Errorf("%w: length %q", ErrFormat, r.buf[:headSize])
	case n < 3:
		return Packet{Kind: Flush + Kind(n)}, nil
	}
	payload := r.buf[headSize:n]
	if _, err := io.ReadFull(r.r, payload); errors.Is(err, io.EOF) {
		return Packet{}, io.ErrUnexpectedEOF
	} else if err != nil {
		return Packet{}, err
	}
	return Packet{Data, payload}, nil
}

// length reads hexadecimal digits, as git does in either case.
func length(digits []byte) (n int, ok bool) {
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | int(c)
	}
	return n, true
}

// Append appends the packet to b. A payload over MaxPayload is a bug.
func (p Packet) Append(b []byte) []byte {
	if p.Kind != Data {
		return fmt.Appendf(b, "%04x", int(p.Kind-Flush))
	}
	return append(appendHead(b, len(p.Payload)), p.Payload...)
}

// AppendString appends a data packet to b. A text over MaxPayload is a bug.
func AppendString(b []byte, text string) []byte { return append(appendHead(b, len(text)), text...) }

func appendHead(b []byte, n int) []byte {
	if n > MaxPayload {
		panic("bug: pkt-line too long")
	}
	return fmt.Appendf(b, "%04x", n+headSize)
}

// AppendFlush appends a flush packet to b.
func AppendFlush(b []byte) []byte { return append(b, "0000"...) }
