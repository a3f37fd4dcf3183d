package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// progress reads what `claude --output-format stream-json` prints, tells the
// user by one line for each tool and message, and remembers the result.
type progress struct {
	out   io.Writer
	since func() time.Duration

	line []byte
	skip bool // the line is too long, its rest is dropped

	turns int
	last  string // id of the last message, which may come in parts
	text  string // the last thing said

	result *outcome // the last event, nil until it came
}

// outcome is Claude Code's own last event.
type outcome struct {
	Subtype string  `json:"subtype"`
	IsError bool    `json:"is_error"`
	Turns   int     `json:"num_turns"`
	Cost    float64 `json:"total_cost_usd"`
	Result  string  `json:"result"`
}

// good tells whether Claude Code ended because it was done.
func (o *outcome) good() bool { return o != nil && o.Subtype == "success" && !o.IsError }

type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Version string `json:"claude_code_version"`
	Model   string `json:"model"`
	Message struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

type block struct {
	Type  string         `json:"type"`
	Text  string         `json:"text"`
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

// Write implements io.Writer. It never fails.
func (p *progress) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if p.skip = p.skip || len(p.line)+len(part) > maxLine; !p.skip {
			p.line = append(p.line, part...)
		}
		if ended {
			p.take(p.line)
			p.line, p.skip = p.line[:0], false
		}
	}
	return len(b), nil
}

// take reads one line; what is no event is left to the transcript.
func (p *progress) take(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			p.say("Claude Code %s started, model %s", e.Version, e.Model)
		}
	case "assistant":
		if e.Message.ID != p.last || p.last == "" {
			p.turns++
			p.last = e.Message.ID
		}
		var blocks []block
		_ = json.Unmarshal(e.Message.Content, &blocks) // a bare text is no block
		for _, b := range blocks {
			p.block(b)
		}
	case "result":
		var o outcome
		if json.Unmarshal(line, &o) == nil {
			p.result = &o
		}
	}
}

func (p *progress) block(b block) {
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
