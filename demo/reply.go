package demo

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
)

// reply is a message of the assistant in the API's form.
type reply struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Model        string  `json:"model"`
	Content      []block `json:"content"`
	StopReason   any     `json:"stop_reason"`
	StopSequence any     `json:"stop_sequence"`
	Usage        usage   `json:"usage"`
}

type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// newReply returns a reply of content in the name of model. Its id is fresh:
// Claude Code takes replies of one id for parts of one message.
func newReply(model string, content []block) reply {
	stop := "end_turn"
	for _, b := range content {
		if b.Type == "tool_use" {
			stop = "tool_use"
		}
	}
	return reply{ID: "msg_demo_" + rand.Text(), Type: "message", Role: "assistant", Model: model,
		Content: content, StopReason: stop, Usage: usage{Input: 1, Output: 1}}
}

// events returns the reply as the server-sent events of a streaming request.
func (r reply) events() []byte {
	var out bytes.Buffer
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		b, err := json.Marshal(fields)
		if err != nil {
			panic("bug: a reply that is no JSON: " + err.Error())
		}
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", kind, b)
	}
	start := r
	start.Content, start.StopReason = []block{}, nil
	send("message_start", map[string]any{"message": start})
	for i, b := range r.Content {
		empty, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b.Text}
		if b.Type == "tool_use" {
			input, err := json.Marshal(b.Input)
			if err != nil {
				panic("bug: a tool's input that is no JSON: " + err.Error())
			}
			empty = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": empty})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": r.StopReason, "stop_sequence": nil}, "usage": r.Usage})
	send("message_stop", map[string]any{})
	return out.Bytes()
}
