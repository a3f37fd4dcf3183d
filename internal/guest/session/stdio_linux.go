package session

import (
	"fmt"
	"os"
)

// pipes are the three pipes of a command without a terminal.
type pipes struct {
	child        [3]*os.File
	in, out, err *os.File
}

func newPipes() (*pipes, error) {
	var p pipes
	var e [3]error
	p.child[0], p.in, e[0] = os.Pipe()
	p.out, p.child[1], e[1] = os.Pipe()
	p.err, p.child[2], e[2] = os.Pipe()
	for _, err := range e {
		if err != nil {
			p.closeChild()
			p.closeOwn()
			return nil, fmt.Errorf("make pipe: %w", err)
		}
	}
	return &p, nil
}

func (p *pipes) closeChild() { closeAll(p.child[:]...) }
func (p *pipes) closeOwn()   { closeAll(p.in, p.out, p.err) }

// closeAll closes files; closing twice or closing none does no harm.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
