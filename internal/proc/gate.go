package proc

import (
	"fmt"
	"os"
)

// maxGate is the most a Gate may carry: what every system writes to a pipe in
// one piece, so that a reader sees all of it or nothing.
const maxGate = 4096

// Gate holds a program back until it would die with aibox. A program in a new
// process namespace cannot see whether its parent still lives, so aibox could
// be killed in the instant between the fork and the request for the death
// signal, and the program would live on. It therefore needs some bytes to do
// its work, and they come over a pipe that aibox fills only when the signal is
// armed. If aibox dies before, the program reads the end of the pipe instead.
type Gate struct {
	data []byte
	r, w *os.File
}

// NewGate makes a gate whose reader yields data, at most 4096 bytes.
func NewGate(data []byte) (*Gate, error) {
	if len(data) > maxGate {
		return nil, fmt.Errorf("gate of %d bytes is over the limit of %d", len(data), maxGate)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &Gate{data: data, r: r, w: w}, nil
}

// Reader is the end to give to the program by a Handover. Start closes it.
func (g *Gate) Reader() *os.File { return g.r }

// open lets the program go on.
func (g *Gate) open() error {
	if g == nil {
		return nil
	}
	g.r.Close()
	_, err := g.w.Write(g.data)
	g.w.Close()
	return err
}

// drop closes the gate for good.
func (g *Gate) drop() {
	if g != nil {
		g.r.Close()
		g.w.Close()
	}
}
