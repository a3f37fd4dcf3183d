package relay

import (
	"time"

	"aibox/internal/wire/mux"
)

// Connections of the VM's programs at once. The rest of the guest's streams is for
// init's own, and for closed ones that may live for some seconds more. The limits
// also bound what a hostile program can make init hold: a window and two buffers
// per connection. One port cannot take all, so that downloads do not lock Claude's
// API out.
const (
	maxConns        = mux.GuestStreams - 40
	maxConnsPerPort = 120
)

const (
	// connectTimeout bounds the host's answer to CONNECT.
	connectTimeout = time.Minute
	// maxAnswer is the longest answer to CONNECT in bytes.
	maxAnswer = 8 << 10
)
