// Package body reads the bodies of the VM's requests for package gitgate, plain
// or packed by gzip, in a few buffers of memory whatever their size.
//
// Any program in the VM sends these bytes. Their number is for the readers to
// limit: packages fetch and push, and the server a pack is for.
package body

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"sync"
)

const bufferSize = 64 << 10

// Body is a request's body. It remembers why it broke, which else is hidden in
// an error of the server's side. It is safe for concurrent use.
type Body struct {
	touch func()

	mu      sync.Mutex // held while reading
	r       io.Reader
	stopped bool

	errMu sync.Mutex
	err   error
}

// New returns the body r, and calls touch each time bytes came.
func New(r io.Reader, touch func()) *Body { return &Body{r: r, touch: touch} }

// Gunzip returns what gzip packed into r, and calls touch likewise.
func Gunzip(r io.Reader, touch func()) *Body {
	return &Body{r: &gunzip{packed: r}, touch: touch}
}

// Read reads the body.
func (b *Body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return 0, io.ErrClosedPipe
	}
	n, err := b.r.Read(p)
	if n > 0 {
		b.touch()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.errMu.Lock()
		b.err = err
		b.errMu.Unlock()
	}
	return n, err
}

// Err returns why reading broke, nil if it did not.
func (b *Body) Err() error {
	b.errMu.Lock()
	defer b.errMu.Unlock()
	return b.err
}

// Take ends reading by whoever reads it now, a connection to a server that goes
// on after its answer, and returns the rest of it.
func (b *Body) Take() *Body {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	return &Body{r: b.r, touch: b.touch}
}

// gunzip unpacks from its first read on.
type gunzip struct {
	packed io.Reader
	r      *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.r == nil {
		r, err := gzip.NewReader(bufio.NewReaderSize(g.packed, bufferSize))
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		g.r = r
	}
	return g.r.Read(p)
}
