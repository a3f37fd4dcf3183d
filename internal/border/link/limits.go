package link

import "time"

const (
	// HelloTimeout is how long Serve waits for the guest's hello when
	// Options say nothing: the VM boots meanwhile, in software at worst.
	HelloTimeout = 3 * time.Minute

	// MaxStreams is how many streams that the VM opened may live at once. A
	// stream lives until both directions ended.
	MaxStreams = 256

	// MaxWaiting is how many streams may wait to be accepted, those that are
	// over already included.
	MaxWaiting = 256

	// MaxRefused is how many streams beyond MaxStreams handlers are closed
	// unserved before the link ends.
	MaxRefused = 4096

	// HandshakeTimeout is how long a new stream may take to name its service.
	HandshakeTimeout = 10 * time.Second

	// OpenTimeout bounds Open.
	OpenTimeout = 30 * time.Second

	// MaxLogged is how many lines one link logs about what it refused.
	MaxLogged = 100

	// writeTimeout only has to be finite for yamux. A link on which nothing
	// moves belongs to a VM that is paused; one that is dead ends in EOF.
	writeTimeout = 24 * time.Hour
)
