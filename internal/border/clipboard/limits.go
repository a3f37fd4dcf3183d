package clipboard

import "time"

const (
	// Window is how long after the key the VM may ask.
	Window = 5 * time.Second
	// MaxImage is the largest image in bytes that is passed on.
	MaxImage = 64 << 20

	// maxQuestion is the longest question in bytes, with its line's end.
	maxQuestion = 32
	// questionTime bounds the wait for a question.
	questionTime = 5 * time.Second
	// answerTime bounds the passing on of an image to a VM that takes it slowly.
	answerTime = time.Minute
)
