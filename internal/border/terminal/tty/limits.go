package tty

import "time"

const (
	// Patience is how long Restore and stops wait for a terminal that does not
	// take output.
	Patience = time.Second
	// maxParams is the longest parameter text of a CSI sequence that is
	// followed; a longer one is none of those that matter.
	maxParams = 64
	// maxKitty is how many pushes of keyboard modes are counted per screen.
	maxKitty = 64
)
