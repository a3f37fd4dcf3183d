package gitgate

import "time"

// Limits on requests.
const (
	maxHead = 16 << 10 // bytes of a request's head

	maxBuffered  = 1 << 20 // bytes of a body that are read before it is sent on with its length; git's own limit
	maxOffer     = 2 << 30 // bytes of what a server offers
	maxDrain     = 1 << 30 // bytes of a refused push that are read before it is told so
	bufferSize   = 64 << 10
	maxRecorded  = 20  // refs of one push in the log
	maxLogged    = 300 // bytes of one text in the log
	maxReasonLen = 900 // bytes of a reason for the VM
)

// Limits in time.
const (
	headTime  = 20 * time.Second
	idleTime  = 2 * time.Minute  // between two requests
	silence   = 5 * time.Minute  // neither the VM nor the server sends a byte
	drainTime = 5 * time.Minute  // reading a refused push
	lastWords = 10 * time.Second // for the answer once a limit is over
)
