package demo

import (
	"encoding/json"
	"strings"
)

// request is the part of a Messages API request that the script looks at.
type request struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Messages []message `json:"messages"`
	Tools    []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

type message struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

// block is a content block of any type; fields of other types stay empty.
type block struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Input     any    `json:"input,omitempty"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
	Content   blocks `json:"content,omitempty"`
}

// blocks is a message's content. A bare string stands for one block of text;
// what is neither a string nor a list holds no block.
type blocks []block

// UnmarshalJSON implements json.Unmarshaler.
func (b *blocks) UnmarshalJSON(data []byte) error {
	*b = nil
	switch {
	case len(data) > 0 && data[0] == '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*b = blocks{{Type: "text", Text: s}}
		return nil
	case len(data) > 0 && data[0] == '[':
		return json.Unmarshal(data, (*[]block)(b))
	}
	return nil
}

// text returns the text of all blocks, one line end between two.
func (b blocks) text() string {
	var parts []string
	for _, x := range b {
		if x.Type == "text" {
			parts = append(parts, x.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// results returns the tool results that answer the last reply.
func (r request) results() []block {
	var found []block
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		for _, b := range r.Messages[i].Content {
			if b.Type == "tool_result" {
				found = append(found, b)
			}
		}
	}
	return found
}

// asks tells whether a user's message holds prompt.
func (r request) asks(prompt string) bool {
	for _, m := range r.Messages {
		if m.Role == "user" && strings.Contains(m.Content.text(), prompt) {
			return true
		}
	}
	return false
}

// offers tells whether Claude Code offers the tool.
func (r request) offers(tool string) bool {
	for _, t := range r.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}
