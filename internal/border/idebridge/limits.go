package idebridge

import "time"

const (
	maxHead = 8 << 10 // of the handshake's request, in bytes
	maxOpen = 64      // requests of the VM that wait for the IDE, and titles of its diffs

	leaveTime = time.Second // a client that connects again may come before its own end is seen
	headTime  = 10 * time.Second
	dialTime  = 10 * time.Second
	writeTime = 30 * time.Second // a side that takes nothing for so long is gone
)
