package results

import "aibox/internal/wire"

const (
	// maxBundleHeader bounds a bundle's header in bytes. Git puts the start
	// commit's whole first line into it.
	maxBundleHeader = 128 << 10

	// minObject is the least that an object takes in a pack: its type and size,
	// and an empty stream of zlib.
	minObject = 9

	// MaxMessage bounds Claude Code's last message, and maxReason each other
	// text of the VM in a Claim, in bytes.
	MaxMessage = 4000
	maxReason  = 500

	// maxNumber bounds each number in a Claim.
	maxNumber = 1e9
)

// sizeLimit is how many bytes a file of the tar may have; 0 for no such file.
func sizeLimit(name string) int64 {
	switch name {
	case wire.ChangesFile:
		return wire.MaxChanges
	case wire.ResultFile:
		return wire.MaxResult
	}
	return 0
}
