package relay

import "time"

// The host ends a VM with more than mux.GuestStreams streams; a closed one may
// live for some seconds more, so these stay well below. They also bound what a
// hostile program can make init hold: a window and two buffers per connection.
// One port cannot take all, so that downloads do not lock Claude's API out.
const (
	maxConns        = 160
	maxConnsPerPort = 120
)

const (
	// connectTimeout bounds the host's answer to CONNECT.
	connectTimeout = time.Minute
	// maxAnswer is the longest answer to CONNECT in bytes.
	maxAnswer = 8 << 10
)
