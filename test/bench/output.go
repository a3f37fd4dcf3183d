//go:build linux

package main

import (
	"bytes"
	"sync"
)

// output is what a program prints, to be read while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write takes what the program prints.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String is all of it so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
