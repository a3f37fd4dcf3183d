package egress

import "time"

// Limits in time. A tunnel or a response that both sides keep open has none:
// streams that are silent for hours are normal.
const (
	requestWait   = 2 * time.Minute  // first byte of a request, from the connection's start or the last response
	headTime      = 20 * time.Second // from a head's first byte to its last
	bodyWait      = 5 * time.Minute  // silence within a request's body
	halfOpenTime  = time.Hour        // silence once one direction has ended
	answerTime    = 10 * time.Second // writing one of the proxy's own answers
	lingerTime    = 2 * time.Second  // reading what a refused client still sends
	cutClientTime = time.Minute      // a response to a client that ended its sending
	watchAfter    = time.Second / 10 // a response whose client is watched from then on
)

// Other limits.
const (
	maxResponse = 256 << 10 // a response's head
	maxLinger   = 256 << 10
	bufferSize  = 32 << 10
)
