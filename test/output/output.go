// Package output keeps what a program prints, so that a test can look at it
// while the program runs.
package output

import (
	"bytes"
	"sync"
)

// Buffer takes the output of programs and goroutines at once. The zero Buffer is
// empty and ready; it must not be copied.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
