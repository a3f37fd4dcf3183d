package demo

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// board collects what the witnesses saw, from several goroutines, and prints
// each step when it happens.
type board struct {
	out   io.Writer
	now   func() time.Time
	start time.Time

	mu      sync.Mutex
	seen    [stepCount]witness
	printed [stepCount]bool
	errs    [stepCount]error
	version string // of Claude Code, as it says
}

func newBoard(out io.Writer, now func() time.Time) *board {
	return &board{out: out, now: now, start: now()}
}

// saw notes that by saw the step. The step is printed once everyone who can see
// it while the VM runs did.
func (b *board) saw(s Step, by witness) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen[s] |= by
	if b.printed[s] || b.errs[s] != nil || s.info().by&^b.seen[s]&^byRun != 0 {
		return
	}
	b.printed[s] = true
	detail := ""
	if s == Started && b.version != "" {
		detail = " (version " + b.version + ")"
	}
	fmt.Fprintf(b.out, "%7.1fs  %s%s\n", b.now().Sub(b.start).Seconds(), s, detail)
}

// failed notes why the step failed. The first reason stays.
func (b *board) failed(s Step, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errs[s] == nil {
		b.errs[s] = err
	}
}

// anyone tells whether some witness saw the step.
func (b *board) anyone(s Step) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[s] != 0
}

// answered notes what the API told.
func (b *board) answered(a answer) {
	for _, s := range a.seen {
		b.saw(s, byAPI)
	}
	if a.err != nil {
		b.failed(a.failed, a.err)
	}
}

// missing is a step that did not pass.
type missing struct {
	step Step
	why  string
	told bool // a witness told why, so that the step is no mere consequence
}

// missed returns the steps that did not pass, in order.
func (b *board) missed() []missing {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []missing
	for s := range Step(stepCount) {
		lacks := s.info().by &^ b.seen[s]
		switch {
		case b.errs[s] != nil:
			list = append(list, missing{s, b.errs[s].Error(), true})
		case lacks == s.info().by:
			list = append(list, missing{s, "it was not seen", false})
		case lacks != 0:
			list = append(list, missing{s, "it was not seen by " + lacks.String(), false})
		}
	}
	return list
}

// String names the witnesses.
func (w witness) String() string {
	text := ""
	for _, n := range []struct {
		w    witness
		name string
	}{{byClaude, "Claude Code"}, {byAPI, "the scripted API"}, {byPage, "the page's server"}, {byRun, "aibox"}} {
		if w&n.w != 0 {
			if text != "" {
				text += ", "
			}
			text += n.name
		}
	}
	return text
}
