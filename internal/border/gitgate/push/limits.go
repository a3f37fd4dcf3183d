package push

// Limits of what stands before a push's pack.
const (
	MaxCommands = 256     // refs of one push
	maxHeader   = 4 << 20 // bytes of all packets before the pack
	maxRef      = 1000    // bytes of a ref's name
	maxReason   = 1000    // bytes of a reason in a report
	maxBand     = 60000   // bytes of a side-band packet
)
