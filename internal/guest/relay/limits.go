package relay

import "time"

// A connection costs init up to 256 KiB of window and 64 KiB of buffers, so
// these bound what a hostile program can make init hold to about 64 MiB. One
// port cannot take all, so that downloads do not lock Claude's API out.
const (
	maxConns        = 256
	maxConnsPerPort = 192
)

const (
	// connectTimeout bounds the host's answer to CONNECT.
	connectTimeout = time.Minute
	// maxAnswer is the longest answer to CONNECT in bytes.
	maxAnswer = 8 << 10
)
