package mux

import "encoding/binary"

// HeaderSize is the size in bytes of a frame's header.
const HeaderSize = 12

// Window is the bytes that each direction of a stream may have in flight. Both
// ends set yamux's MaxStreamWindowSize to it.
const Window = 256 << 10

// Backlog is yamux's AcceptBacklog in the guest: the streams that it opens
// before the host has accepted one.
const Backlog = 64

// GuestStreams is how many streams the guest keeps open at once: fewer than
// the host's limit, so that only a guest that breaks the protocol meets that.
const GuestStreams = 200

// The types of a frame.
const (
	TypeData   = 0 // Length bytes of payload follow
	TypeWindow = 1 // Length more bytes may be sent
	TypePing   = 2 // not used on the link
	TypeGoAway = 3 // not used on the link
)

// The flags of a data or window frame.
const (
	FlagSYN = 1 << iota // opens the stream
	FlagACK             // accepts the stream
	FlagFIN             // the sender sends no more data
	FlagRST             // both directions end now
)

// Header is the header of one yamux frame.
type Header struct {
	Version uint8
	Type    uint8
	Flags   uint16
	Stream  uint32
	Length  uint32
}

// ParseHeader decodes the first HeaderSize bytes of b, which must be there.
// It checks nothing.
func ParseHeader(b []byte) Header {
	return Header{
		Version: b[0],
		Type:    b[1],
		Flags:   binary.BigEndian.Uint16(b[2:4]),
		Stream:  binary.BigEndian.Uint32(b[4:8]),
		Length:  binary.BigEndian.Uint32(b[8:12]),
	}
}

// Append appends h's HeaderSize bytes to b.
func (h Header) Append(b []byte) []byte {
	b = append(b, h.Version, h.Type)
	b = binary.BigEndian.AppendUint16(b, h.Flags)
	b = binary.BigEndian.AppendUint32(b, h.Stream)
	return binary.BigEndian.AppendUint32(b, h.Length)
}

// payload is the number of bytes that follow the header.
func (h Header) payload() uint32 {
	if h.Type == TypeData {
		return h.Length
	}
	return 0
}

func resetFrame(stream uint32) Header {
	return Header{Type: TypeWindow, Flags: FlagRST, Stream: stream}
}
