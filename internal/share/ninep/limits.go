package ninep

const (
	// MaxMessage is the longest message in bytes, and what the VM should ask for.
	MaxMessage = 256<<10 + 24
	// minMessage is the shortest limit of messages that a VM may ask for.
	minMessage = 4096
	// firstBuffer is what a worker has before a longer message comes.
	firstBuffer = 8 << 10

	// MaxFids is how many files the VM may hold at once.
	MaxFids = 65536

	// Workers is how many requests are worked on at once. What comes beyond them
	// waits unread.
	Workers = 16
)
