package terminal

import "time"

const (
	// SetupTimeout is how long the VM may take for handshake, login and the
	// start of the command.
	SetupTimeout = 30 * time.Second
	// MaxRefused is how many channels and global requests of the server are
	// refused before the session ends.
	MaxRefused = 16
	// MaxRequests is how many requests on the session's channel are read, of
	// which exit-status and exit-signal mean something.
	MaxRequests = 64
	// CloseGrace is how long the server may take to close the channel after
	// it told the exit status.
	CloseGrace = 5 * time.Second
	// FlushGrace is how long the end of a failed session waits for a terminal
	// that does not take output.
	FlushGrace = time.Second
	// inputSize is how many bytes of the user's input are read at once.
	inputSize = 4 << 10
	// outputSize is how many bytes of output are written at once.
	outputSize = 32 << 10
	// maxErrorText is the longest error text in bytes that may hold words of the VM.
	maxErrorText = 300
)
