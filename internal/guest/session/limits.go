package session

import "time"

const (
	maxConns    = 8  // SSH connections at once
	maxChannels = 16 // sessions of one connection at once
	maxEnv      = 64 // variables a client may set in a session
	maxEnvValue = 4 << 10
	maxTerm     = 64   // bytes of a terminal's name
	maxSide     = 4000 // columns or rows
	maxCommand  = 120 << 10
)

const (
	handshakeTimeout = 30 * time.Second
	// hangupGrace is what programs get to end after their terminal is gone.
	hangupGrace = 2 * time.Second
	// killTimeout bounds the wait for killed processes; only one that the
	// kernel holds in a broken mount takes longer.
	killTimeout = 3 * time.Second
)
