// Package ninecall is the client's side of 9p for tests: one message after the
// other, whatever they say.
package ninecall

import (
	"encoding/binary"
	"fmt"
	"io"

	"aibox/internal/share/ninep/proto"
)

// Call sends a request and returns the next answer, be it to that request or not.
func Call(conn io.ReadWriter, r proto.Request) (proto.Response, error) {
	b, ok := r.Append(nil)
	if !ok {
		return proto.Response{}, fmt.Errorf("request %+v cannot be sent", r)
	}
	if _, err := conn.Write(b); err != nil {
		return proto.Response{}, fmt.Errorf("send type %d: %w", r.Type, err)
	}
	answer, err := Receive(conn)
	if err != nil {
		return answer, fmt.Errorf("answer to type %d: %w", r.Type, err)
	}
	return answer, nil
}

// Receive returns the next answer. What cannot be read is an error, and so is a
// message of less than the size itself.
func Receive(conn io.Reader) (r proto.Response, err error) {
	b := make([]byte, 4)
	if _, err := io.ReadFull(conn, b); err != nil {
		return r, err
	}
	size := binary.LittleEndian.Uint32(b)
	if size < 4 {
		return r, fmt.Errorf("answer of %d bytes", size)
	}
	b = append(b, make([]byte, size-4)...)
	if _, err := io.ReadFull(conn, b[4:]); err != nil {
		return r, err
	}
	if !proto.ParseResponse(b, &r) {
		return r, fmt.Errorf("answer %x cannot be read", b)
	}
	return r, nil
}
