package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"time"
)

const (
	// buildTime is what compiling a target may take beside its fuzzing, on a
	// slow machine with an empty cache.
	buildTime = 5 * time.Minute
	// tailSize is how much of a failed target's output is shown.
	tailSize = 8 << 10
)

// result is how one target ended.
type result struct {
	target
	executions string // as go test counts them
	corpus     string // inputs that reach new code
	took       time.Duration
	err        error
	output     []byte // its end, for a failure
}

var counts = regexp.MustCompile(`execs: (\d+).*new interesting: \d+ \(total: (\d+)\)`)

// runAll fuzzes the targets, as many at a time as there are CPUs, and yields
// their results as they end. It stops early when ctx ends.
func runAll(ctx context.Context, root string, targets []target, each time.Duration) <-chan result {
	next := make(chan target)
	results := make(chan result)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for t := range next {
				results <- run(ctx, root, t, each)
			}
		})
	}
	go func() {
		defer close(results)
		defer workers.Wait()
		defer close(next)
		for _, t := range targets {
			select {
			case next <- t:
			case <-ctx.Done():
				return
			}
		}
	}()
	return results
}

// cutOff is all that go test says of a target whose time ended in a moment that it
// does not expect, as happens on a busy machine: no input failed.
var cutOff = regexp.MustCompile(`(?m)^--- FAIL: \w+ \([0-9.]+s\)\n    context deadline exceeded\nFAIL$`)

// run fuzzes one target, once more if its time ended in the wrong moment.
func run(ctx context.Context, root string, t target, each time.Duration) result {
	r := runOnce(ctx, root, t, each)
	if r.err != nil && ctx.Err() == nil && cutOff.Match(r.output) {
		r = runOnce(ctx, root, t, each)
	}
	return r
}

// runOnce fuzzes one target on one CPU. The command ends with everything it started.
func runOnce(ctx context.Context, root string, t target, each time.Duration) result {
	ctx, cancel := context.WithTimeoutCause(ctx, each+buildTime, errors.New("did not end in time"))
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String(),
		"-fuzzminimizetime", "10s", "-parallel", "1", "./"+t.dir)
	cmd.Dir = root
	cmd.WaitDelay = 5 * time.Second
	group(cmd)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	r := result{target: t, executions: "0", corpus: "0", took: time.Since(start), err: err}
	if all := counts.FindAllSubmatch(out, -1); len(all) > 0 {
		r.executions, r.corpus = string(all[len(all)-1][1]), string(all[len(all)-1][2])
	}
	if cause := context.Cause(ctx); cause != nil {
		r.err = cause
	}
	if r.err == nil && r.executions == "0" && !bytes.Contains(out, []byte("PASS")) {
		r.err = errors.New("the target did not run")
	}
	r.output = out[max(0, len(out)-tailSize):]
	return r
}

// String is the summary's line, with the output of a failure below it.
func (r result) String() string {
	line := fmt.Sprintf("%-60s %10s runs %6s inputs %5.0fs", r.target, r.executions, r.corpus, r.took.Seconds())
	if r.err == nil {
		return "ok    " + line
	}
	return fmt.Sprintf("FAIL  %s: %v\n%s", line, r.err, r.output)
}
