package claude

import "encoding/json"

// Event is one line. Fields of other types of events stay empty.
type Event struct {
	Type    string `json:"type"` // system, assistant, user, result, and more
	Subtype string `json:"subtype"`

	// Of type system, subtype init.
	Version string `json:"claude_code_version"`
	Model   string `json:"model"`

	// Of types assistant and user.
	Message Message `json:"message"`

	// Of type result, which is the last one.
	IsError bool    `json:"is_error"`
	Turns   int     `json:"num_turns"`
	CostUSD float64 `json:"total_cost_usd"`
	Result  string  `json:"result"`
}

// Starts tells whether it is the event that Claude Code begins with.
func (e Event) Starts() bool { return e.Type == "system" && e.Subtype == "init" }

// Ends tells whether it is the last event.
func (e Event) Ends() bool { return e.Type == "result" }

// Succeeds tells whether Claude Code ended because it was done.
func (e Event) Succeeds() bool { return e.Ends() && e.Subtype == "success" && !e.IsError }

// Message is what the model or a tool said. One message of the model may come
// in several events with the same ID.
type Message struct {
	ID      string `json:"id"`
	Content Blocks `json:"content"`
}

// Block is one part of a message. Fields of other types of blocks stay empty.
type Block struct {
	Type      string         `json:"type"` // text, tool_use, tool_result, and more
	Text      string         `json:"text"`
	Name      string         `json:"name"`  // of a tool
	Input     map[string]any `json:"input"` // of a tool
	ToolUseID string         `json:"tool_use_id"`
}

// Blocks are a message's content. What is no list of blocks, such as a bare
// text, holds none.
type Blocks []Block

// UnmarshalJSON implements json.Unmarshaler. It never fails: the rest of an event
// counts also where its message is of a form that is not known.
func (b *Blocks) UnmarshalJSON(data []byte) error {
	*b = nil
	var list []Block
	if json.Unmarshal(data, &list) == nil {
		*b = list
	}
	return nil
}
