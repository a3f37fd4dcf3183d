package link

import (
	"bytes"

	"aibox/internal/wire"
	"aibox/internal/wire/mux"
)

// checkShape judges what needs no memory of earlier frames.
func checkShape(h mux.Header) error {
	switch {
	case h.Type > mux.TypeGoAway && restarts(h):
		return violation("the VM restarted the link's protocol")
	case h.Version != 0:
		return violation("the VM sent a frame of version %d", h.Version)
	case h.Type == mux.TypePing:
		return violation("the VM sent a ping, which the link does not use")
	case h.Type == mux.TypeGoAway:
		return violation("the VM sent a go-away with code %d", h.Length)
	case h.Type > mux.TypeGoAway:
		return violation("the VM sent a frame of type %d", h.Type)
	case h.Stream == 0:
		return violation("the VM sent a frame for stream 0")
	case h.Type == mux.TypeData && h.Length > mux.Window:
		return violation("the VM sent a frame of %d bytes, over the window of %d", h.Length, mux.Window)
	case h.Flags == 0 && h.Length == 0:
		return violation("the VM sent a frame that says nothing")
	}
	switch h.Flags {
	case 0, mux.FlagSYN, mux.FlagACK, mux.FlagFIN, mux.FlagSYN | mux.FlagFIN, mux.FlagACK | mux.FlagFIN:
		return nil
	case mux.FlagRST:
		if h.Length > 0 {
			return violation("the VM sent a reset with a length")
		}
		return nil
	}
	return violation("the VM sent a frame with flags %#x", h.Flags)
}

// restarts tells whether a hello stands where a frame is due.
func restarts(h mux.Header) bool {
	var hello bytes.Buffer
	_ = wire.WriteHello(&hello, wire.Hello{})
	return mux.ParseHeader(hello.Bytes()) == h
}

// numbers remembers which stream numbers the VM used. yamux counts up, but
// streams that are opened at once may overtake each other a little.
type numbers struct {
	top  uint32 // all numbers seen are below; in steps of two
	used [numberSlack]bool
}

// numberSlack is how far numbers may be out of order or skipped.
const numberSlack = 512

// take returns false if id was used, is too old to tell, or skips too far.
func (n *numbers) take(id uint32) bool {
	k := id / 2
	if uint64(k)+numberSlack < uint64(n.top) || uint64(k) >= uint64(n.top)+numberSlack {
		return false
	}
	for n.top <= k {
		n.used[n.top%numberSlack] = false
		n.top++
	}
	if n.used[k%numberSlack] {
		return false
	}
	n.used[k%numberSlack] = true
	return true
}

// below tells whether id may have been taken before.
func (n *numbers) below(id uint32) bool { return id/2 < n.top }
