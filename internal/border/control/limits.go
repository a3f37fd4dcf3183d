package control

import "time"

const (
	// MaxSteps is how many boot steps are taken from Ready; the rest is dropped.
	MaxSteps = 64
	// MaxStepName is the longest name of a step in bytes.
	MaxStepName = 64
	// MaxReason is the longest reason of a failed boot in bytes.
	MaxReason = 500
	// MaxStepTime caps what a step claims to have taken.
	MaxStepTime = time.Hour
	// SendTimeout bounds the sending of a shutdown request.
	SendTimeout = 5 * time.Second
)
