package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// NonceSize is the size in bytes of the random number in a Hello.
const NonceSize = 16

// HelloSize is the size in bytes of an encoded Hello.
const HelloSize = len(helloMagic) + 2 + NonceSize

const helloMagic = "\x00AIBOX\xffLINK\n"

// maxHelloNoise bounds the bytes skipped before a Hello: an earlier speaker
// may have left some in the serial port's buffers, never more than this.
const maxHelloNoise = 64 << 10

// Hello is the first message in each direction of the link. The guest sends one with
// a fresh nonce; the host answers with the same nonce, which proves that the
// answer belongs to this boot. The multiplexer starts on the byte after it.
type Hello struct {
	Version uint16
	Nonce   [NonceSize]byte
}

// ErrVersion is wrapped by ReadHello when the other side speaks another version.
var ErrVersion = errors.New("protocol versions differ")

// WriteHello sends h.
func WriteHello(w io.Writer, h Hello) error {
	b := make([]byte, 0, HelloSize)
	b = append(b, helloMagic...)
	b = binary.BigEndian.AppendUint16(b, h.Version)
	b = append(b, h.Nonce[:]...)
	_, err := w.Write(b)
	return err
}

// ReadHello skips at most 64 KiB up to the magic and reads one Hello. It reads
// not one byte more, so that the multiplexer finds its own first byte. A
// version other than Version is an error that wraps ErrVersion.
func ReadHello(r io.Reader) (Hello, error) {
	window := make([]byte, len(helloMagic))
	if _, err := io.ReadFull(r, window); err != nil {
		return Hello{}, fmt.Errorf("read hello: %w", err)
	}
	for skipped := 0; !bytes.Equal(window, []byte(helloMagic)); skipped++ {
		if skipped == maxHelloNoise {
			return Hello{}, errors.New("read hello: no magic in the first 64 KiB")
		}
		copy(window, window[1:])
		if _, err := io.ReadFull(r, window[len(window)-1:]); err != nil {
			return Hello{}, fmt.Errorf("read hello: %w", err)
		}
	}
	rest := make([]byte, 2+NonceSize)
	if _, err := io.ReadFull(r, rest); err != nil {
		return Hello{}, fmt.Errorf("read hello: %w", err)
	}
	h := Hello{Version: binary.BigEndian.Uint16(rest)}
	copy(h.Nonce[:], rest[2:])
	if h.Version != Version {
		return Hello{}, fmt.Errorf("read hello: %w: this side %d, the other %d", ErrVersion, Version, h.Version)
	}
	return h, nil
}
