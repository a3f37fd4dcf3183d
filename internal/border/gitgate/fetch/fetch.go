// Package fetch checks a request of git's protocol version 2 that the VM sends
// to read a repository, while it streams to the server.
//
// The VM's git, or anything in its place, sends these bytes. One request is a
// command, its capabilities, and its arguments; what passes is written anew, so
// that the server reads exactly one command of the known ones, all of which
// only read. Limits: limits.go.
package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"aibox/internal/border/gitgate/pktline"
)

// ErrRequest is wrapped by the errors for a request that git would not send.
var ErrRequest = errors.New("malformed fetch")

// ErrFlush says that the request is the lone flush by which git finds out
// whether a server takes its requests.
var ErrFlush = errors.New("fetch of nothing")

func commands() []string { return []string{"ls-refs", "fetch", "object-info", "bundle-uri"} }

// Request is a reader of one checked request.
type Request struct {
	command string
	source  io.Reader
	pkt     *pktline.Reader
	out     []byte // checked and not yet read
	buf     []byte // holds out
	left    int
	args    bool // behind the delimiter
	err     error
}

// Read reads the command and returns the request, whose Read gives the whole of
// it, checked. r must be buffered and end with the request.
func Read(r io.Reader) (*Request, error) {
	q := &Request{source: r, pkt: pktline.NewReader(r), left: maxRequest}
	p, err := q.pkt.Next()
	switch {
	case err != nil:
		return nil, malformed(err)
	case p.Kind == pktline.Flush:
		if err := q.end(); !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, ErrFlush
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(p.Payload), "\n"), "command=")
	if !ok || !slices.Contains(commands(), name) {
		return nil, fmt.Errorf("%w: it begins with no known command", ErrRequest)
	}
	q.command = name
	q.emit(p)
	return q, nil
}

// Command is what is asked for, such as "fetch".
func (q *Request) Command() string { return q.command }

// Read gives the request's bytes. Errors other than io.EOF mean that the
// request is not complete and must not reach its end at the server.
func (q *Request) Read(b []byte) (int, error) {
	for len(q.out) == 0 {
		if q.err != nil {
			return 0, q.err
		}
		q.err = q.advance()
	}
	n := copy(b, q.out)
	q.out = q.out[n:]
	return n, nil
}

// advance checks the next packet. After the flush the error is io.EOF.
func (q *Request) advance() error {
	p, err := q.pkt.Next()
	switch {
	case err != nil:
		return malformed(err)
	case p.Kind == pktline.Data && bytes.IndexByte(p.Payload, 0) >= 0:
		return fmt.Errorf("%w: a NUL", ErrRequest)
	case p.Kind == pktline.End, p.Kind == pktline.Delim && q.args:
		return fmt.Errorf("%w: a %s packet", ErrRequest, p.Kind)
	case p.Kind == pktline.Flush:
		q.emit(p)
		return q.end()
	}
	if q.left -= len(p.Payload) + 4; q.left < 0 {
		return fmt.Errorf("%w: more than %d bytes", ErrRequest, maxRequest)
	}
	q.args = q.args || p.Kind == pktline.Delim
	q.emit(p)
	return nil
}

// malformed is an error of the packets' reader: the request's, or its source's.
func malformed(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends too early", ErrRequest)
	case errors.Is(err, pktline.ErrFormat):
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	return err
}

// end wants nothing behind the request.
func (q *Request) end() error {
	switch n, err := io.ReadFull(q.source, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("%w: something follows it", ErrRequest)
	default:
		return err
	}
}

func (q *Request) emit(p pktline.Packet) {
	q.buf = p.Append(q.buf[:0])
	q.out = q.buf
}
