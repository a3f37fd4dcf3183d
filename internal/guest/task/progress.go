package task

import (
	"fmt"
	"io"
	"strings"
	"time"

	"aibox/internal/wire/claude"
)

// progress reads what Claude Code prints, tells the user by one line for each
// tool and message, and remembers the result.
type progress struct {
	claude.Reader
	out   io.Writer
	since func() time.Duration

	turns int
	last  string // id of the last message, which may come in parts
	text  string // the last thing said

	result *claude.Event // the last event, nil until it came
}

func newProgress(out io.Writer, since func() time.Duration) *progress {
	p := &progress{out: out, since: since}
	p.Reader = claude.Reader{MaxLine: maxLine, Take: p.take}
	return p
}

// finished tells whether Claude Code ended because it was done.
func (p *progress) finished() bool { return p.result != nil && p.result.Succeeds() }

// take is told one event; what is no event is left to the transcript.
func (p *progress) take(e claude.Event) {
	switch {
	case e.Starts():
		p.say("Claude Code %s started, model %s", e.Version, e.Model)
	case e.Type == "assistant":
		if e.Message.ID != p.last || p.last == "" {
			p.turns++
			p.last = e.Message.ID
		}
		for _, b := range e.Message.Content {
			p.block(b)
		}
	case e.Ends():
		p.result = &e
	}
}

func (p *progress) block(b claude.Block) {
	switch b.Type {
	case "tool_use":
		p.say("turn %d, %v: %s%s", p.turns, p.since().Round(time.Second), b.Name, detail(b.Input))
	case "text":
		if text := strings.TrimSpace(b.Text); text != "" {
			p.text = text
			p.say("turn %d, %v: says: %s", p.turns, p.since().Round(time.Second), short(text))
		}
	}
}

func (p *progress) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Fprintln(p.out, strings.ReplaceAll(line, "\n", " "))
}

// detail shows the one input of a tool that tells most.
func detail(input map[string]any) string {
	for _, name := range []string{"command", "file_path", "path", "pattern", "url", "query", "description"} {
		if text, ok := input[name].(string); ok && text != "" {
			return ": " + short(text)
		}
	}
	return ""
}

// short is the text's begin, on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + "…"
	}
	return text
}
