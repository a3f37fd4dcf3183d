package mux

import (
	"bufio"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// readBuffer is larger than yamux's own, so that small frames cost few reads.
const readBuffer = 32 << 10

// Checker watches the frames of a Conn. Its methods are called from several
// goroutines and must not block.
type Checker interface {
	// In judges the header of a frame that arrived. An error ends the
	// connection: yamux sees it instead of the frame.
	In(Header) error
	// Out is told the header of a frame before its first byte is sent.
	Out(Header)
}

// Conn is a connection that carries yamux frames. Read and Write are for one
// yamux session, which calls each from one goroutine.
type Conn struct {
	net.Conn
	check Checker

	// Used by Read alone, but for ended.
	in    *bufio.Reader
	head  [HeaderSize]byte
	ready []byte // whole headers for yamux
	body  uint32 // payload still to come of the frame whose header is above
	ended atomic.Bool

	resetMu sync.Mutex
	resets  []uint32 // streams that yamux must be told are reset

	// writeMu guards what follows and the order of frames on the connection.
	writeMu sync.Mutex
	out     []byte // a header that waits for its payload, or a part of one
	left    uint32 // payload still to be sent
	late    []byte // resets that wait for the end of the current frame
	failed  error
}

// NewConn returns a Conn over conn, positioned at a frame's first byte. check
// may be nil.
func NewConn(conn net.Conn, check Checker) *Conn {
	if check == nil {
		check = unchecked{}
	}
	return &Conn{Conn: conn, check: check, in: bufio.NewReaderSize(conn, readBuffer)}
}

type unchecked struct{}

func (unchecked) In(Header) error { return nil }
func (unchecked) Out(Header)      {}

// Read passes on what arrives, one header or a part of one payload at a time.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(c.ready) == 0 && c.body == 0 {
		if err := c.nextFrame(); err != nil {
			c.ended.Store(true)
			return 0, err
		}
	}
	if len(c.ready) > 0 {
		n := copy(p, c.ready)
		c.ready = c.ready[n:]
		return n, nil
	}
	if uint64(len(p)) > uint64(c.body) {
		p = p[:c.body]
	}
	n, err := c.in.Read(p)
	c.body -= uint32(n)
	if err != nil {
		c.ended.Store(true)
	}
	return n, err
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.ended.Store(true)
	return c.Conn.Close()
}

// nextFrame reads and checks one header. Pending resets come before it, so that
// yamux forgets a stream no later than it learns of anything new.
func (c *Conn) nextFrame() error {
	if _, err := io.ReadFull(c.in, c.head[:]); err != nil {
		return err
	}
	h := ParseHeader(c.head[:])
	if err := c.check.In(h); err != nil {
		return err
	}
	c.resetMu.Lock()
	resets := c.resets
	c.resets = nil
	c.resetMu.Unlock()
	c.ready = c.ready[:0]
	for _, id := range resets {
		c.ready = resetFrame(id).Append(c.ready)
	}
	c.ready = append(c.ready, c.head[:]...)
	c.body = h.payload()
	return nil
}

// Write sends frames. A header is held back until its payload comes, which
// yamux writes next, and both leave in one call.
func (c *Conn) Write(p []byte) (int, error) {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	total := len(p)
	for len(p) > 0 {
		if c.failed != nil {
			return total - len(p), c.failed
		}
		if c.left == 0 {
			p = c.takeHeader(p)
		} else {
			p = c.sendPayload(p)
		}
	}
	return total, c.failed
}

// takeHeader moves bytes of p to the current header and sends a frame that has
// no payload.
func (c *Conn) takeHeader(p []byte) []byte {
	n := min(HeaderSize-len(c.out), len(p))
	c.out = append(c.out, p[:n]...)
	if len(c.out) == HeaderSize {
		h := ParseHeader(c.out)
		c.check.Out(h)
		if c.left = h.payload(); c.left == 0 {
			c.send(nil)
		}
	}
	return p[n:]
}

func (c *Conn) sendPayload(p []byte) []byte {
	n := int(min(uint64(len(p)), uint64(c.left)))
	c.left -= uint32(n)
	c.send(p[:n])
	return p[n:]
}

// send writes the header in c.out, if any, and payload, and at the end of the
// frame the resets that waited for it. It copies them into one write, since each
// write to a serial port is an exit of the VM and a wake-up at the other end.
func (c *Conn) send(payload []byte) {
	c.out = append(c.out, payload...)
	if c.left == 0 {
		c.out = append(c.out, c.late...)
		c.late = c.late[:0]
	}
	_, c.failed = c.Conn.Write(c.out)
	c.out = c.out[:0]
}

// Reset ends both directions of a stream at both ends. The local yamux learns
// of it before the next frame that arrives. Reset may block for as long as the
// other side reads nothing.
func (c *Conn) Reset(stream uint32) {
	c.resetMu.Lock()
	c.resets = append(c.resets, stream)
	c.resetMu.Unlock()

	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	h := resetFrame(stream)
	c.check.Out(h)
	if c.left > 0 && len(c.out) == 0 { // in the middle of a payload
		c.late = h.Append(c.late)
		return
	}
	if c.failed == nil {
		_, c.failed = c.Conn.Write(h.Append(nil))
	}
}
