package task

import "time"

const (
	// maxLine bounds a line of Claude Code's output that is looked at; the
	// transcript has it whole.
	maxLine = 4 << 20
	// maxDetail bounds what a progress line says beside the tool's name.
	maxDetail = 160
	// maxSaid bounds the last words of a step that are kept.
	maxSaid = 4 << 10
	// maxMessage bounds Claude Code's last message in the result: written as JSON,
	// in which a character takes up to six bytes, all still fits into wire.MaxResult.
	maxMessage = 8 << 10
	// maxReason bounds every other text in the result.
	maxReason = 500
	// reserve is kept free on the disk until Claude Code has ended, so that its
	// work can be committed on a disk that it filled.
	reserve = 64 << 20
	// storeTime is what the host gets to store what Claude Code printed last.
	storeTime = time.Minute
	// termGrace is what a step gets to end by itself after it was asked to.
	termGrace = 10 * time.Second
)
