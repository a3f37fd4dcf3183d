// Package jail confines aibox's own processes: the main one once the virtual
// machine runs, and its helpers. A Policy is data that says what stays
// possible. Apply is one last call that takes away everything else, for good,
// on all threads, and reports what the kernel enforces and what it cannot.
//
// Two of the kernel's means work together, since each has gaps that the other
// closes: Landlock (package landlock) knows paths and ports, but not chmod,
// unix sockets, UDP on most kernels, or TCP beside its plain form; the filter
// of system calls (package seccomp) knows these, but no paths and no ports.
package jail

import (
	"fmt"
	"slices"

	"aibox/internal/fault"
	"aibox/internal/jail/landlock"
	"aibox/internal/jail/seccomp"
)

// OldKernelFlag is the flag with which a user goes on without the protection
// that the kernel lacks; it sets Policy.Lax.
const OldKernelFlag = "--allow-old-kernel"

// Policy is what a process may still do. Files that are open already need no
// mention. A path that does not exist allows nothing and is no error.
type Policy struct {
	ReadFiles  []string // plain files: read
	ReadDirs   []string // folders: list, and read all below
	WriteFiles []string // files and devices: read and write
	WriteDirs  []string // folders: make, change and remove files and folders below
	// Exec are programs, and folders of programs and libraries. Any entry also
	// allows new processes.
	Exec []string

	// ConnectTCP are ports that TCP connections may go to, on any address: the
	// kernel cannot tell addresses apart, package egress does.
	ConnectTCP []uint16
	// DNS allows asking name servers; DNSFiles has the files that go with it.
	DNS bool

	// Tree is for a process that serves ReadDirs and WriteDirs to others: it also
	// allows links and moves between folders below WriteDirs, times of open files,
	// and asking for a link's target and for free space.
	Tree bool
	// Modes allows modes and times by path, which Landlock does not limit. It is for
	// a process in a sandbox that shows nothing but its folders.
	Modes bool

	// Terminal allows modes and window size of the open terminal.
	Terminal bool
	// Desktop allows new unix sockets, which lead to the display server and to
	// every other service of the user's desktop, and signals to the programs
	// that Exec starts. It is for a helper that no byte of the VM's reaches.
	Desktop bool
	// Children are the process ids of children that may be sent signals, each
	// alone and as a process group. Waiting for children is always possible.
	Children []int
	// Alone says that no child of this process has to die with it. Then the
	// kernel's own limit on signals is used too, which would also swallow the
	// parent-death signals of children that were started before.
	Alone bool

	// Lax goes on where the kernel lacks a protection and only reports it.
	Lax bool
}

// Check says whether this machine can enforce the policy, before anything is
// started: an error of kind fault.Machine on a kernel without what Apply needs,
// unless the policy is lax. The report is what Apply would give.
func Check(p Policy) (Report, error) {
	m, err := machine()
	if err != nil {
		return Report{}, err
	}
	r := report(p, m)
	return r, r.err(p.Lax)
}

// Apply enforces the policy. It cannot be undone, and after an error the
// process may be confined in part: it must end. Apply must be the last step of
// a start: what is read lazily by the Go libraries (time zone, root
// certificates) is read here, and everything else that a process will need
// must be open. Apply tries a few forbidden things before it returns and is an
// error when one of them works.
func Apply(p Policy) (Report, error) {
	r, err := Check(p)
	if err != nil {
		return r, err
	}
	if err := apply(p, r); err != nil {
		return r, fmt.Errorf("confine process: %w", err)
	}
	return r, nil
}

// rules is the policy's part for Landlock.
func (p Policy) rules() landlock.Rules {
	return landlock.Rules{
		ReadFiles: p.ReadFiles, ReadDirs: p.ReadDirs,
		WriteFiles: p.WriteFiles, WriteDirs: p.WriteDirs,
		Exec:       p.Exec,
		ConnectTCP: p.ConnectTCP, DNS: p.DNS,
		Signals: p.Alone, Sockets: p.Desktop, Tree: p.Tree,
	}
}

// calls is the policy's part for the filter of system calls.
func (p Policy) calls() seccomp.Options {
	o := seccomp.Options{
		Internet: p.internet(),
		Terminal: p.Terminal,
		Desktop:  p.Desktop,
		List:     len(p.ReadDirs)+len(p.WriteDirs)+len(p.Exec) > 0,
		Write:    len(p.WriteDirs) > 0,
		Exec:     len(p.Exec) > 0,
		Tree:     p.Tree,
		Modes:    p.Modes,
	}
	for _, pid := range p.Children {
		o.Signal = append(o.Signal, pid, -pid)
	}
	return o
}

func (p Policy) internet() bool { return p.DNS || len(p.ConnectTCP) > 0 }

// ports returns all ports that TCP connections may go to, sorted.
func (p Policy) ports() []uint16 {
	ports := slices.Clone(p.ConnectTCP)
	if p.DNS {
		ports = append(ports, 53)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// errOldKernel names what would be lost, so that the flag is an informed choice.
func errOldKernel(lost []Guard) error {
	text := ""
	for i, g := range lost {
		if i > 0 {
			text += "; "
		}
		text += g.Lost
	}
	return fault.New(fault.Machine,
		"use Linux "+landlock.MinKernel+" or newer with Landlock and seccomp enabled, or pass "+OldKernelFlag+" to go on without",
		"this kernel cannot confine aibox: %s", text)
}
