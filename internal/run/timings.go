package run

import (
	"fmt"
	"io"
	"sync"
	"time"

	"aibox/internal/border/control"
)

// timings records how long each phase of a start took.
type timings struct {
	mu     sync.Mutex
	start  time.Time
	last   time.Time
	phases []phase
	guest  []control.Step
}

type phase struct {
	name string
	took time.Duration
}

func newTimings(now time.Time) *timings { return &timings{start: now, last: now} }

// mark ends the phase that began at the last mark.
func (t *timings) mark(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.phases = append(t.phases, phase{name, now.Sub(t.last)})
	t.last = now
}

// print writes the phases, init's own steps indented below, and the total.
func (t *timings) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var total time.Duration
	for _, p := range t.phases {
		total += p.took
		fmt.Fprintf(w, "%8.1f ms  %s\n", ms(p.took), p.name)
		if p.name != phaseGuest {
			continue
		}
		for _, s := range t.guest {
			fmt.Fprintf(w, "%8.1f ms    init: %s\n", ms(s.Took), s.Name)
		}
	}
	fmt.Fprintf(w, "%8.1f ms  start to prompt\n", ms(total))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
