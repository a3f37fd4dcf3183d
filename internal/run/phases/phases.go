// Package phases measures how long each phase of a VM's start takes, for
// --timings.
package phases

import (
	"fmt"
	"io"
	"sync"
	"time"

	"aibox/internal/border/control"
)

// Names of the phases, in order.
const (
	Prepare = "check and open what the run needs"
	Files   = "start the file server"
	Machine = "start the machine's process"
	Kernel  = "kernel, up to init's first word"
	Guest   = "init, up to a ready session"
	Confine = "confine aibox"
	Session = "session, up to the first output"
)

// Clock records the phases of one start. It is safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	last  time.Time
	past  []phase
	steps []control.Step
}

type phase struct {
	name string
	took time.Duration
}

// Start returns a clock whose first phase begins now.
func Start() *Clock { return &Clock{last: time.Now()} }

// Mark ends the phase that began at the last mark.
func (c *Clock) Mark(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.past = append(c.past, phase{name, now.Sub(c.last)})
	c.last = now
}

// Steps notes init's own steps, which are printed below its phase.
func (c *Clock) Steps(steps []control.Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = steps
}

// Print writes the phases, init's steps indented, and the total.
func (c *Clock) Print(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var total time.Duration
	for _, p := range c.past {
		total += p.took
		fmt.Fprintf(w, "%8.1f ms  %s\n", ms(p.took), p.name)
		if p.name != Guest {
			continue
		}
		for _, s := range c.steps {
			fmt.Fprintf(w, "%8.1f ms    init: %s\n", ms(s.Took), s.Name)
		}
	}
	fmt.Fprintf(w, "%8.1f ms  start to prompt\n", ms(total))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
