// Package vm says what a virtual machine is to aibox: a Spec goes in, a
// Machine comes out. The backends below it build and start one each; the
// lifecycle around them exists once, in package run.
package vm

import (
	"context"
	"net"
	"os"
)

// Spec is everything a backend needs to start a machine. All files are open
// already, so that a backend resolves no path the user chose.
type Spec struct {
	Memory int // MiB
	CPUs   int

	Kernel    *os.File // sealed copy of the checked kernel
	RootDisk  *os.File // opened read-only
	StateDisk *os.File // opened read-write; nil for none
	// Scratch says that nobody reads the state disk after this machine, so that
	// what the guest wants to be safe there need not be.
	Scratch bool
	// Shares is the vhost-user socket of the file server, connected; nil for none.
	Shares *os.File
	// NineP is the socket of a 9p server, connected, for a serial port of the name
	// wire.SharePortName; nil for none.
	NineP *os.File
	// Console takes what the guest's kernel and init print.
	Console *os.File
	// KernelArgs follow the backend's own kernel arguments.
	KernelArgs []string
}

// Backend starts machines of one kind.
type Backend interface {
	// Start returns once the machine's process runs; the guest has not booted
	// then. Start closes none of the Spec's files. Cancelling ctx after Start
	// returned has no effect.
	Start(ctx context.Context, spec Spec) (Machine, error)
}

// Machine is a started virtual machine.
type Machine interface {
	// Link is the one connection with the guest. It stays valid until Done.
	Link() Link
	// Done is closed when the machine has ended and left nothing behind.
	Done() <-chan struct{}
	// Err says why the machine ended: nil after a power-off by the guest or
	// after Kill. It is valid once Done is closed.
	Err() error
	// Processes are the host's processes that the machine started itself; aibox
	// keeps the right to signal them when it confines itself.
	Processes() []int
	// Kill ends the machine at once. It waits for Done for at most five seconds.
	Kill()
}

// Link is the connection between host and guest. Exactly one field is set.
type Link struct {
	// Serial is one byte stream, to be multiplexed (virtio serial port).
	Serial net.Conn
	// Streams is a transport that has streams of its own (vsock, Hyper-V sockets).
	Streams Streams
}

// Streams is a transport of many streams in both directions.
type Streams interface {
	Open(ctx context.Context) (net.Conn, error)
	Accept() (net.Conn, error)
	Close() error
}
