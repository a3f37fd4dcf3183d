// Package work is what the bench does inside a VM, aibox's or a peer's: the same
// program, so that the times are of the same work. Its results go to standard
// output as one line.
package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Results are measured values by name: seconds for work, MB/s for streams, and
// operations a second for many small ones.
type Results map[string]float64

// Outcome is what a VM says of its jobs: the results as JOB/what, and why a job
// failed.
type Outcome struct {
	Results Results
	Failed  map[string]string
}

// marker starts the line with the outcome, which may stand between a kernel's
// messages.
const marker = "BENCH-OUTCOME "

// Print writes the line.
func (o Outcome) Print(w io.Writer) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s%s\n", marker, text)
	return err
}

// Parse finds the outcome in what a VM printed.
func Parse(output string) (Outcome, error) {
	_, text, ok := strings.Cut(output, marker)
	if !ok {
		return Outcome{}, errors.New("the VM printed no outcome")
	}
	text, _, _ = strings.Cut(text, "\n")
	var o Outcome
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return Outcome{}, fmt.Errorf("read the VM's outcome: %w", err)
	}
	return o, nil
}

// timed runs do and returns the seconds it took.
func timed(do func() error) (float64, error) {
	start := time.Now()
	err := do()
	return time.Since(start).Seconds(), err
}

const megabyte = 1 << 20

// JobsWord starts the word of the kernel's command line with a peer's jobs.
const (
	JobsWord      = "bench_jobs="
	JobsSeparator = ";"
)
