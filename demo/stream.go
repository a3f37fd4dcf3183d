package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"aibox/internal/plain"
)

// stream reads what `claude --output-format stream-json` prints and tells the
// board. It holds at most one line of maxLine bytes; it never fails a write, so
// that no output can end the session.
type stream struct {
	board  *board
	script *script

	mu   sync.Mutex
	line []byte
	skip bool // the line is too long, its rest is dropped
}

// event is one line of the output.
type event struct {
	Type    string  `json:"type"`
	Subtype string  `json:"subtype"`
	Version string  `json:"claude_code_version"`
	Message message `json:"message"`
	IsError bool    `json:"is_error"`
	Result  string  `json:"result"`
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if s.skip = s.skip || len(s.line)+len(part) > maxLine; !s.skip {
			s.line = append(s.line, part...)
		}
		if ended {
			s.take(s.line)
			s.line, s.skip = s.line[:0], false
		}
	}
	return len(p), nil
}

// take reads one line. What is no event is no evidence and is ignored.
func (s *stream) take(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch {
	case e.Type == "system" && e.Subtype == "init":
		s.board.started(plain.LineMax(e.Version, 20))
	case e.Type == "user":
		for _, b := range e.Message.Content {
			if n, ok := s.script.turn(b.ToolUseID); ok && b.Type == "tool_result" {
				s.board.saw(s.script.turns[n].step, byClaude)
			}
		}
	case e.Type == "result" && e.Subtype == "success" && !e.IsError:
		s.board.saw(Ended, byClaude)
	case e.Type == "result":
		s.board.failed(Ended, errors.New("Claude Code says: "+plain.LineMax(e.Subtype+" "+e.Result, maxShown)))
	}
}

// started notes that Claude Code runs.
func (b *board) started(version string) {
	b.mu.Lock()
	b.version = version
	b.mu.Unlock()
	b.saw(Started, byClaude)
}

// tail keeps the start of the last line written that is not empty, such as the
// reason of a program that ended.
type tail struct {
	mu   sync.Mutex
	line []byte
	last string
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range p {
		if c != '\n' {
			if len(t.line) < maxShown {
				t.line = append(t.line, c)
			}
			continue
		}
		t.keep()
	}
	return len(p), nil
}

func (t *tail) keep() {
	if s := strings.TrimSpace(string(t.line)); s != "" {
		t.last = plain.LineMax(s, maxShown)
	}
	t.line = t.line[:0]
}

// String returns the line, made printable.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep()
	return t.last
}
