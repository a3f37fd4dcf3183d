package ninep

import (
	"sync"
	"time"
)

const (
	// maxEmptyReads is how many reads in a row may find nothing at one place.
	maxEmptyReads = 200
	// readPause is what a program leaves between two reads when it waits for a file to grow.
	readPause = 100 * time.Millisecond
)

// emptyReads is the row of reads by which a fid found nothing.
//
// When the host cuts off a file that the VM has open, the VM's Linux (6.12, its
// netfs) goes on to take the old size for true: it asks for the rest again and
// again, without a pause, in a call that no signal ends. An error ends it.
type emptyReads struct {
	mu     sync.Mutex
	offset uint64
	last   time.Time
	row    int
}

// endless notes a read and tells whether it is one of a row without an end.
func (e *emptyReads) endless(offset uint64, got int, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if got > 0 || offset != e.offset || now.Sub(e.last) > readPause {
		e.row = 0
	}
	e.offset, e.last = offset, now
	if got == 0 {
		e.row++
	}
	return e.row > maxEmptyReads
}
