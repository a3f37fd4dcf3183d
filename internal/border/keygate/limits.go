package keygate

import "time"

// Limits. A request's body and a response have none in size or time: both
// stream through one buffer, and answers can take an hour.
const (
	maxHeader      = 64 << 10 // bytes of a request's head
	maxResponse    = 256 << 10
	maxPath        = 1 << 10
	maxConcurrent  = 64 // requests at a time
	headTime       = 20 * time.Second
	idleTime       = 5 * time.Minute // between requests of one connection
	dialTime       = 30 * time.Second
	handshakeTime  = 20 * time.Second
	responseTime   = 10 * time.Minute // from the request's end to the response's head
	upstreamIdle   = 90 * time.Second
	maxReasonBytes = 300 // of an upstream's error in the log
)
