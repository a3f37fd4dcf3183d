package cgroup

// Bounds of what one VM may hold in groups the user makes. Without them the
// user could fill the kernel's memory with empty groups.
const (
	maxDepth       = 16
	maxDescendants = 2000
)

const mib = 1 << 20

// Limits are what all sessions together may use.
type Limits struct {
	Memory uint64 // bytes; page cache and files in RAM count
	PIDs   uint64 // processes and threads
}

// LimitsFor returns the limits in a VM with so much memory. What is left
// belongs to the kernel and to init, whose forwarders may hold some ten MiB of
// data in flight: a session that takes all it can is stopped by
// its own limit, and the kernel never has to choose among all processes.
func LimitsFor(memory uint64) Limits {
	reserve := min(max(160*mib, memory/16), memory/4)
	return Limits{
		Memory: memory - reserve,
		// A thread costs the kernel about 40 KiB, so a fork bomb ends here
		// before it ends at the memory limit.
		PIDs: min(max(memory/mib*4, 1024), 16384),
	}
}
