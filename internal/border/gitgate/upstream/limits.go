package upstream

import "time"

// Limits in time. Silence within an exchange is package gitgate's to limit.
const (
	dialTime      = 20 * time.Second
	handshakeTime = 20 * time.Second
	idleTime      = 30 * time.Second // of a connection, and less than servers keep one
)

// Other limits.
const (
	maxResponse = 64 << 10 // bytes of a response's head
	maxText     = 300      // bytes of a server's words in an error
	bufferSize  = 64 << 10
)
