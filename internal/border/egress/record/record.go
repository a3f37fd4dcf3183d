// Package record keeps what the proxy and its neighbours tell of hosts: the lines
// of proxy.log, and what the user is told at the end.
package record

import (
	"fmt"
	"io"
	"sync"
	"time"

	"aibox/internal/border/egress/route"
	"aibox/internal/plain"
)

const (
	maxLogged     = 1000 // hosts of each kind in the log of a run
	maxLoggedText = 300  // bytes of a host or reason in the log
	maxRefusals   = 20   // refusals shown to the user
)

// Recorder writes proxy.log and remembers what the user is told at the end. It
// is safe for concurrent use. A VM cannot fill the log: of each kind it holds the
// first maxLogged hosts, each once, and their summary.
type Recorder struct {
	now func() time.Time

	mu     sync.Mutex
	w      io.Writer
	closed bool
	seen   [kinds]tally
	told   []route.Refusal
}

// Host is a host and port of the log.
type Host struct {
	Target string
	Count  int
	Last   time.Time
}

type kind int

const (
	connected kind = iota
	refused
	failed
	heldBack
	kinds
)

func (k kind) String() string { return [...]string{"connected", "refused", "failed", "held back"}[k] }

// tally counts the hosts of one kind in the order of their first time.
type tally struct {
	order []*Host
	by    map[string]*Host
	more  int // events of hosts past maxLogged
}

// New returns a Recorder that writes to w, whose errors it ignores:
// a full disk must not stop the VM's connections.
func New(w io.Writer, now func() time.Time) *Recorder {
	return &Recorder{w: w, now: now}
}

// Connect records a connection that came about.
func (r *Recorder) Connect(target string) { r.note(connected, target, "") }

// Fail records an allowed connection that did not come about.
func (r *Recorder) Fail(target string) { r.note(failed, target, "") }

// HoldBack records what another service did not pass on, such as a message.
func (r *Recorder) HoldBack(what string) { r.note(heldBack, what, "") }

// Refuse records a refusal.
func (r *Recorder) Refuse(f route.Refusal) {
	f.Target, f.Text = plain.LineMax(f.Target, maxLoggedText), plain.Line(f.Text)
	if r.note(refused, f.Target, ": "+f.Text) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.told) < maxRefusals {
			r.told = append(r.told, f)
		}
	}
}

// note counts an event and tells whether the host is new and was logged.
func (r *Recorder) note(k kind, target, detail string) bool {
	target = plain.LineMax(target, maxLoggedText)
	r.mu.Lock()
	defer r.mu.Unlock()
	now, t := r.now(), &r.seen[k]
	if h, ok := t.by[target]; ok {
		h.Count++
		h.Last = now
		return false
	}
	if len(t.order) == maxLogged {
		if t.more++; t.more == 1 {
			r.line(now, fmt.Sprintf("%s more than %d hosts; further ones are only counted", k, maxLogged))
		}
		return false
	}
	if t.by == nil {
		t.by = map[string]*Host{}
	}
	h := &Host{target, 1, now}
	t.order, t.by[target] = append(t.order, h), h
	r.line(now, fmt.Sprint(k, " ", target, detail))
	return true
}

func (r *Recorder) line(now time.Time, text string) {
	if !r.closed {
		_, _ = fmt.Fprintln(r.w, now.UTC().Format(time.RFC3339), text)
	}
}

// Close writes the summary. Later events are counted and not written.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for k, t := range r.seen {
		for _, h := range t.order {
			r.line(now, fmt.Sprintf("summary %s %s, %d times, last %s", kind(k), h.Target, h.Count, h.Last.UTC().Format(time.RFC3339)))
		}
		if t.more > 0 {
			r.line(now, fmt.Sprintf("summary %s others, %d times", kind(k), t.more))
		}
	}
	r.closed = true
}

// Reached returns the hosts that were connected, in the order of their first time.
func (r *Recorder) Reached() []Host { return r.hosts(connected) }

// Failed returns the allowed hosts that could not be connected.
func (r *Recorder) Failed() []Host { return r.hosts(failed) }

func (r *Recorder) hosts(k kind) []Host {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Host, 0, len(r.seen[k].order))
	for _, h := range r.seen[k].order {
		out = append(out, *h)
	}
	return out
}

// Refused returns the first refusals to show to the user, at most maxRefusals,
// and how many more hosts were refused, where the log says which.
func (r *Recorder) Refused() (first []route.Refusal, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]route.Refusal(nil), r.told...), len(r.seen[refused].order) + r.seen[refused].more - len(r.told)
}
