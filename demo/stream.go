package demo

import (
	"errors"
	"strings"
	"sync"

	"aibox/internal/plain"
	"aibox/internal/wire/claude"
)

// stream tells the board what `claude --output-format stream-json` prints. It
// never fails a write, so that no output can end the session.
type stream struct {
	board  *board
	script *script

	mu     sync.Mutex
	events claude.Reader
}

func newStream(b *board, s *script) *stream {
	st := &stream{board: b, script: s}
	st.events = claude.Reader{MaxLine: maxLine, Take: st.take}
	return st
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events.Write(p)
}

// take is told one event. What is no event is no evidence and is ignored.
func (s *stream) take(e claude.Event) {
	switch {
	case e.Starts():
		s.board.started(plain.LineMax(e.Version, 20))
	case e.Type == "user":
		for _, b := range e.Message.Content {
			if n, ok := s.script.turn(b.ToolUseID); ok && b.Type == "tool_result" {
				s.board.saw(s.script.turns[n].step, byClaude)
			}
		}
	case e.Succeeds():
		s.board.saw(Ended, byClaude)
	case e.Ends():
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
