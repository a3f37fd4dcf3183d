// Package landlock limits which files, TCP ports, sockets and processes this
// process can reach, by the Linux kernel's Landlock. The rules are data; what
// a kernel can enforce of them is a pure function of its ABI number, so that
// the answer can be tested on any machine.
package landlock

// Kernel versions matter only through the Landlock ABI they bring. MinABI is
// the one that knows TCP ports (Linux 6.7), below which aibox's own network
// access cannot be limited.
const (
	MinABI    = 4
	MinKernel = "6.7"

	abiFiles   = 1
	abiScopes  = 6  // Linux 6.12: signals and abstract unix sockets
	abiUnix    = 9  // unix sockets that have a path
	abiUDP     = 10 // UDP ports
	newestABI  = 11 // what the library knows; a newer kernel counts as this
	dnsPort    = 53
	anyUDPPort = 0 // the kernel's own choice for a socket that sends
)

// Rules is what stays possible. Everything else that the kernel's Landlock
// knows is refused. A path may be a symlink; the rule holds for the file or
// folder it leads to when Restrict is called, wherever that is moved later. A
// missing path is skipped, since a rule for it would allow nothing.
type Rules struct {
	ReadFiles  []string // plain files: read
	ReadDirs   []string // folders: list, and read all below
	WriteFiles []string // files and devices: read, write, truncate
	WriteDirs  []string // folders: read, and make, change and remove files and folders below
	Exec       []string // files or folders: read and execute

	// Tree adds to WriteDirs what a whole tree of files takes: making links, and
	// moving files between folders.
	Tree bool

	ConnectTCP []uint16 // ports, on any address
	DNS        bool     // port 53 of TCP, and of UDP where the kernel limits UDP

	// Signals keeps signals to processes of the same domain: threads of this
	// process and what it starts later. It also holds for the parent-death
	// signal of children that were started before, which would survive.
	Signals bool
	// Sockets leaves connecting to unix sockets as it is.
	Sockets bool
}

// Limit names something that Landlock can take away.
type Limit int

// The limits in the order in which kernels learned them.
const (
	Files Limit = iota
	TCP
	AbstractSockets
	Signals
	PathSockets
	UDP
)

// Enforces says whether a kernel with the given ABI enforces the limit.
func Enforces(abi int, l Limit) bool {
	switch l {
	case Files:
		return abi >= abiFiles
	case TCP:
		return abi >= MinABI
	case AbstractSockets, Signals:
		return abi >= abiScopes
	case PathSockets:
		return abi >= abiUnix
	case UDP:
		return abi >= abiUDP
	}
	return false
}

// ABI returns the running kernel's Landlock ABI, 0 when it has none or has it
// disabled.
func ABI() int { return abi() }

// Restrict enforces the rules on all threads of the process, as far as the
// kernel can; see Enforces. It also sets no-new-privileges on all threads,
// even on a kernel without Landlock. It cannot be undone.
func Restrict(r Rules) error { return restrict(r) }
