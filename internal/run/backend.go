package run

import "os"

// fileServer serves the shares to the machine.
type fileServer interface {
	// Socket is the machine's end of the connection.
	Socket() *os.File
	Done() <-chan struct{}
	Err() error
	Kill()
	// Processes are the host's processes that must stay killable.
	Processes() []int
}
