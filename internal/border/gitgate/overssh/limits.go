package overssh

import "time"

// MaxSessions is how many sessions one SSH connection carries at once. Servers
// allow ten by default, some fewer.
const MaxSessions = 4

// Limits in time. Silence within an exchange is package gitgate's to limit.
const (
	loginTime   = 30 * time.Second       // dial and login together
	settleTime  = time.Second            // for the end of a login that was given up
	sessionTime = 20 * time.Second       // opening a session
	waitTime    = 2 * time.Minute        // for a session of the connection to end
	openPause   = 200 * time.Millisecond // before the second try to open a session, and more before each next
	exitTime    = 5 * time.Second        // from a program's last byte, or its closing, to its end
)

// Other limits.
const (
	maxOpens   = 6    // tries to open a session where the server refuses one
	maxStderr  = 2000 // bytes kept of what a server says beside its answer
	maxText    = 300  // bytes of that in an error
	bufferSize = 64 << 10
)
