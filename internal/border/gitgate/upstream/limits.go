package upstream

import "time"

// MaxSessions is how many sessions one SSH connection carries at once. Servers
// allow ten by default, some fewer.
const MaxSessions = 4

// Limits in time. Silence within an exchange is package gitgate's to limit.
const (
	dialTime      = 20 * time.Second
	loginTime     = 30 * time.Second // dial and login together
	sessionTime   = 20 * time.Second // opening a session
	waitTime      = 2 * time.Minute  // for a session of the connection to end
	exitTime      = 5 * time.Second  // from a program's last byte to its status
	handshakeTime = 20 * time.Second
	idleTime      = 30 * time.Second // of an HTTPS connection, and less than servers keep one
	keepAlive     = 15 * time.Second
)

// Other limits.
const (
	maxResponse = 64 << 10 // bytes of a response's head
	maxStderr   = 2000     // bytes kept of what a server says beside its answer
	maxText     = 300      // bytes of that in an error
	bufferSize  = 64 << 10
)
