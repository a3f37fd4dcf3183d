package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"aibox/internal/plain"
)

// Lines prints a task's lines on stderr, each with the time and who speaks, and
// on request events as JSON on stdout. It is safe for concurrent use.
type Lines struct {
	id       string
	err, out io.Writer
	json     bool
	now      func() time.Time

	mu      sync.Mutex
	fromVM  int
	dropped bool
}

// Who speaks in a line.
const (
	ownVoice = "aibox"
	vmVoice  = "vm"
)

// Own prints a line of aibox's.
func (l *Lines) Own(format string, args ...any) { l.print(ownVoice, fmt.Sprintf(format, args...)) }

// ownError prints an error with its hint.
func (l *Lines) ownError(text, hint string) {
	l.Own("%s", strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	if hint != "" {
		l.Own("hint: %s", hint)
	}
}

// vm prints a line of the VM's. After maxLines it prints no more: the
// transcript has them.
func (l *Lines) vm(text string) {
	l.mu.Lock()
	l.fromVM++
	over, first := l.fromVM > maxLines, !l.dropped
	l.dropped = l.dropped || over
	l.mu.Unlock()
	switch {
	case !over:
		l.print(vmVoice, text)
	case first:
		l.Own("the VM printed %d lines; more are not shown", maxLines)
	}
}

// lineEvent is a line as JSON. Fields are only ever added.
type lineEvent struct {
	Event string    `json:"event"` // "line"
	Time  time.Time `json:"time"`
	Task  string    `json:"task"`
	From  string    `json:"from"` // "aibox" or "vm"
	Text  string    `json:"text"`
}

func (l *Lines) print(voice, text string) {
	limit := plain.MaxLine // a command to copy is of no use when it is cut
	if voice == vmVoice {
		limit = maxLineBytes
	}
	text = plain.LineMax(text, limit)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	fmt.Fprintf(l.err, "%s %s[%s] %s\n", now.Format(time.TimeOnly), voice, l.id, text)
	if l.json {
		l.encode(lineEvent{"line", now.UTC(), l.id, voice, text})
	}
}

// event prints an event, if events are wanted.
func (l *Lines) event(v any) {
	if !l.json {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.encode(v)
}

func (l *Lines) encode(v any) {
	encode := json.NewEncoder(l.out)
	encode.SetEscapeHTML(false)
	_ = encode.Encode(v) // the caller's output keeps its error
}

// splitter calls take for each line that is written, cut at maxLineBytes.
type splitter struct {
	take func(string)
	line []byte
}

// Write never fails.
func (s *splitter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		rest = after
		s.line = append(s.line, part[:min(len(part), max(0, 2*maxLineBytes-len(s.line)))]...)
		if ended {
			s.flush()
		}
	}
	return len(p), nil
}

// flush gives out the line that has no end yet.
func (s *splitter) flush() {
	if text := strings.TrimRight(string(s.line), "\r"); text != "" {
		s.take(text)
	}
	s.line = s.line[:0]
}
