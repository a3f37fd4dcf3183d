package task

import "time"

const (
	// MaxTimeout bounds Claude Code's work.
	MaxTimeout = 30 * 24 * time.Hour
	// stopAfter is how long after the timeout aibox stops the VM at the latest.
	stopAfter = 25 * time.Minute
	// maxRev bounds the name of a revision.
	maxRev = 400
	// maxModel bounds the name of a model.
	maxModel = 200
	// maxTurns and maxBudget bound the flags of these names.
	maxTurns  = 100000
	maxBudget = 1e6
	// maxLineBytes bounds a line of the VM, and maxLines their number. The
	// transcript holds all of it.
	maxLineBytes = 1000
	maxLines     = 20000
	// maxHosts bounds the hosts that a report lists.
	maxHosts = 50
	// maxRecord bounds the files that describe a task, when they are read again.
	maxRecord = 1 << 20
)
