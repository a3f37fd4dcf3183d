package link

import (
	"fmt"
	"sync"

	"aibox/internal/wire/mux"
)

// Violation is the error of a link that ended because the VM broke its
// protocol. Its text holds no byte that the VM chose, but numbers.
type Violation struct{ Reason string }

func (v *Violation) Error() string { return v.Reason }

func violation(format string, args ...any) error {
	return &Violation{Reason: fmt.Sprintf(format, args...)}
}

// flow is one living stream, seen from the connection.
type flow struct {
	credit  uint32 // bytes that the VM may still send
	owed    uint32 // bytes sent to the VM for which it gave no window back
	acked   bool
	inOver  bool // the VM sent FIN
	outOver bool // the host sent FIN
}

// guard judges each frame's header before yamux sees it. It is at least as
// strict as yamux, so that yamux never meets an error of its own. It
// implements mux.Checker.
type guard struct {
	mu      sync.Mutex
	flows   map[uint32]*flow
	living  int // flows that the VM opened
	waiting int // streams that the VM opened and the host has not accepted
	numbers numbers
	lastOut uint32
	broken  error
}

func newGuard() *guard { return &guard{flows: make(map[uint32]*flow)} }

// In judges a frame from the VM.
func (g *guard) In(h mux.Header) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken == nil {
		g.broken = g.judge(h)
	}
	return g.broken
}

func (g *guard) judge(h mux.Header) error {
	if err := checkShape(h); err != nil {
		return err
	}
	if h.Flags&mux.FlagSYN != 0 {
		if err := g.opened(h.Stream); err != nil {
			return err
		}
	}
	f := g.flows[h.Stream]
	if f == nil {
		return g.late(h)
	}
	if h.Flags&mux.FlagRST != 0 {
		g.drop(h.Stream)
		return nil
	}
	if h.Flags&mux.FlagACK != 0 {
		if f.acked || fromGuest(h.Stream) {
			return violation("the VM accepted a stream that the host did not open")
		}
		f.acked = true
	}
	return g.moved(f, h)
}

// moved accounts for data, window and the end of the VM's direction.
func (g *guard) moved(f *flow, h mux.Header) error {
	switch {
	case h.Type == mux.TypeWindow && h.Length > f.owed:
		return violation("the VM gave back %d bytes of window and was sent %d", h.Length, f.owed)
	case h.Type == mux.TypeWindow:
		f.owed -= h.Length
	case f.inOver && h.Length > 0:
		return violation("the VM sent data on a stream that it had ended")
	case h.Length > f.credit:
		return violation("the VM sent %d bytes into a window of %d", h.Length, f.credit)
	default:
		f.credit -= h.Length
	}
	if h.Flags&mux.FlagFIN == 0 {
		return nil
	}
	if f.inOver {
		return violation("the VM ended a stream twice")
	}
	f.inOver = true
	if f.outOver {
		g.drop(h.Stream)
	}
	return nil
}

func (g *guard) opened(id uint32) error {
	switch {
	case !fromGuest(id):
		return violation("the VM opened a stream with one of the host's numbers")
	case !g.numbers.take(id):
		return violation("the VM opened a stream with a number that is used or out of order")
	case g.living >= MaxStreams:
		return violation("the VM opened more than %d streams", MaxStreams)
	case g.waiting >= MaxWaiting:
		return violation("the VM opened more than %d streams before the host accepted one", MaxWaiting)
	}
	g.flows[id] = &flow{credit: mux.Window}
	g.living++
	g.waiting++
	return nil
}

// late judges a frame for a stream that is over: it may have crossed a reset.
// yamux drops its payload.
func (g *guard) late(h mux.Header) error {
	known := h.Stream <= g.lastOut
	if fromGuest(h.Stream) {
		known = g.numbers.below(h.Stream)
	}
	if !known {
		return violation("the VM used a stream that nobody opened")
	}
	return nil
}

// Out notes a frame from the host's yamux, before the VM can answer it.
func (g *guard) Out(h mux.Header) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.Flags&mux.FlagSYN != 0 && !fromGuest(h.Stream) {
		g.flows[h.Stream] = &flow{credit: mux.Window}
		g.lastOut = max(g.lastOut, h.Stream)
	}
	f := g.flows[h.Stream]
	if f == nil {
		return
	}
	if h.Flags&mux.FlagRST != 0 {
		g.drop(h.Stream)
		return
	}
	if h.Type == mux.TypeData {
		f.owed += h.Length
	} else {
		f.credit += h.Length
	}
	if h.Flags&mux.FlagFIN != 0 {
		f.outOver = true
		if f.inOver {
			g.drop(h.Stream)
		}
	}
}

// accepted tells that the host took a stream that waited.
func (g *guard) accepted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
}

// reason returns the violation that ended the link, or nil.
func (g *guard) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.broken
}

func (g *guard) drop(id uint32) {
	delete(g.flows, id)
	if fromGuest(id) {
		g.living--
	}
}

func fromGuest(id uint32) bool { return id%2 == 1 }
