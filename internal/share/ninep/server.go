package ninep

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"aibox/internal/share/ninep/proto"
)

// Options set up a Server. Zero values mean the constants.
type Options struct {
	MaxFids int
	// System is the host's GOOS by whose rules names are taken; this one's by default.
	System string
}

// Server serves one connection.
type Server struct {
	roots  []*held
	shares []*Share
	system string
	fids   fids

	readMu sync.Mutex // held while a message is read, in the messages' order
	in     *bufio.Reader
	limit  uint32 // of a message; 0 before Tversion
	broken error  // why no more is read

	writeMu sync.Mutex
	out     io.Writer

	mu     sync.Mutex // guards what follows; after writeMu
	idle   sync.Cond  // a request was answered
	active map[uint16]chan struct{}
}

// errProtocol is wrapped by the error of a connection that broke the protocol.
var errProtocol = errors.New("the VM broke the 9p protocol")

// Serve serves shares on a connection until it ends, and closes both. The error
// says how the other side broke the protocol; it is nil when the connection ended.
func Serve(conn io.ReadWriteCloser, shares []Share, o Options) error {
	s := newServer(conn, shares, o)
	defer s.close()
	ended := make(chan error, Workers)
	for range Workers {
		go func() { ended <- s.work() }()
	}
	var first error
	for range Workers {
		if err := <-ended; first == nil {
			first = err
			conn.Close() // so that the others end
		}
	}
	if errors.Is(first, errProtocol) {
		return first
	}
	return nil
}

func newServer(conn io.ReadWriter, shares []Share, o Options) *Server {
	if o.MaxFids == 0 {
		o.MaxFids = MaxFids
	}
	if o.System == "" {
		o.System = runtime.GOOS
	}
	s := &Server{
		system: o.System, fids: fids{limit: o.MaxFids, byNum: map[uint32]*fid{}},
		in: bufio.NewReaderSize(conn, 64<<10), out: conn, active: map[uint16]chan struct{}{},
	}
	s.idle.L = &s.mu
	for i := range shares {
		s.shares = append(s.shares, &shares[i])
		s.roots = append(s.roots, hold(shares[i].Root, &shares[i]))
	}
	return s
}

func (s *Server) close() {
	s.fids.clear()
	for _, r := range s.roots {
		r.drop()
	}
}

// work reads a message, answers it, and begins again.
func (s *Server) work() error {
	w := worker{Server: s, in: make([]byte, firstBuffer), out: make([]byte, 0, firstBuffer)}
	for {
		if err := w.next(); err != nil {
			return err
		}
		if err := w.answer(); err != nil {
			return err
		}
	}
}

// worker is one of those that answer requests at once.
type worker struct {
	*Server
	in      []byte
	out     []byte
	request proto.Request
	ready   bool          // out holds the answer, data and all
	done    chan struct{} // of the request, for those that wait for it
	flushed chan struct{} // done of the request that a Tflush is about; nil if it is over
	limit   uint32        // of the answer
}

// next reads one request that takes its time; quick ones are answered on the
// way. A Tversion is answered before anything else is read, since it begins a
// new session, in which nothing of the old one may go on.
func (w *worker) next() error {
	w.readMu.Lock()
	defer w.readMu.Unlock()
	if w.broken == nil {
		w.broken = w.nextLocked()
	}
	return w.broken
}

func (w *worker) nextLocked() error {
	for {
		if err := w.read(); err != nil {
			return err
		}
		w.limit = w.Server.limit
		if w.request.Type == proto.Tversion {
			if err := w.begin(); err != nil {
				return err
			}
			continue
		}
		if w.limit == 0 {
			return fmt.Errorf("%w: a request came before the version", errProtocol)
		}
		if err := w.register(); err != nil || !quick(w.request.Type) {
			return err
		}
		if err := w.answer(); err != nil {
			return err
		}
	}
}

// quick tells whether a request is answered before the next one is read: to wake
// another worker for that would take longer than the work.
func quick(kind byte) bool {
	switch kind {
	case proto.Twalk, proto.Tgetattr, proto.Tlopen, proto.Tclunk:
		return true
	}
	return false
}

// read reads one message and parses it.
func (w *worker) read() error {
	head, err := w.Server.in.Peek(proto.HeaderSize)
	if err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(head)
	if size < proto.HeaderSize || size > max(w.Server.limit, minMessage) {
		return fmt.Errorf("%w: a message of %d bytes", errProtocol, size)
	}
	if int(size) > len(w.in) {
		w.in = make([]byte, max(w.Server.limit, minMessage))
	}
	if _, err := io.ReadFull(w.Server.in, w.in[:size]); err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	if !proto.ParseRequest(w.in[:size], &w.request) {
		return w.unreadable(w.in[4])
	}
	return nil
}

// unreadable lets a request of an unknown type have an error as its answer; any
// other message that cannot be read ends the connection.
func (w *worker) unreadable(kind byte) error {
	if known(kind) || kind%2 == 1 {
		return fmt.Errorf("%w: a message of type %d cannot be read", errProtocol, kind)
	}
	w.request = proto.Request{Type: kind, Tag: binary.LittleEndian.Uint16(w.in[5:])}
	return nil
}

// begin answers a Tversion.
func (w *worker) begin() error {
	s := w.Server
	s.mu.Lock()
	for len(s.active) > 0 {
		s.idle.Wait()
	}
	s.mu.Unlock()
	s.fids.clear()
	answer := proto.Response{Type: proto.Tversion + 1, Tag: w.request.Tag, Name: "unknown", Count: min(w.request.Count, MaxMessage)}
	s.limit = 0
	switch {
	case w.request.Count < minMessage:
		answer = proto.Response{Type: proto.Rlerror, Tag: w.request.Tag, Errno: proto.EINVAL}
	case w.request.Name == proto.Version:
		answer.Name, s.limit = proto.Version, answer.Count
	}
	w.out, _ = answer.Append(w.out[:0])
	s.writeMu.Lock() // a request that is no longer active may still be sending its answer
	defer s.writeMu.Unlock()
	_, err := s.out.Write(w.out)
	return err
}

// register notes that the request is worked on. It looks up what a Tflush is about
// here, in the messages' order: as each waits for an earlier one alone, none waits
// for itself by way of others.
func (w *worker) register() error {
	s := w.Server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[w.request.Tag] != nil {
		return fmt.Errorf("%w: tag %d is used twice", errProtocol, w.request.Tag)
	}
	w.flushed = nil
	if w.request.Type == proto.Tflush {
		w.flushed = s.active[w.request.OldTag]
	}
	w.done = make(chan struct{})
	s.active[w.request.Tag] = w.done
	return nil
}

// answer does what the request asks and sends the answer. The tag is free before
// the VM can know, and not before the answer has its place in the order.
func (w *worker) answer() error {
	w.handle()
	s := w.Server
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.mu.Lock()
	delete(s.active, w.request.Tag)
	close(w.done)
	s.idle.Broadcast()
	s.mu.Unlock()
	_, err := s.out.Write(w.out)
	return err
}
