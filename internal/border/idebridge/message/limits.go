package message

const (
	// Max is the largest message in bytes: the contents of a file in a diff, escaped.
	Max = 16 << 20

	maxDepth  = 32 // of brackets; a diagnostic has about 8
	maxID     = 64 // in bytes
	maxMethod = 64 // in bytes
)
