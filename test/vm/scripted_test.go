//go:build vm

package vm

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// scriptedAPI is a Messages API that has Claude Code run shell commands, one a
// turn, and then say its last words.
type scriptedAPI struct {
	commands []string
	last     string
	// endless repeats the last command for ever.
	endless bool
	key     string // the only one it accepts
}

// serveScript serves the API on the host's loopback until the test ends.
func serveScript(t *testing.T, api *scriptedAPI) (url string) {
	t.Helper()
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	return s.URL
}

func (a *scriptedAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		_, _ = io.WriteString(w, `{"input_tokens":1,"message":"hello","data":[]}`)
		return
	}
	if a.key != "" && r.Header.Get("X-Api-Key") != a.key {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"wrong key"}}`, http.StatusBadRequest)
		return
	}
	var q struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []any `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	turn := 0
	for _, m := range q.Messages {
		turn += strings.Count(string(m.Content), `"tool_result"`)
	}
	block := map[string]any{"type": "text", "text": a.last}
	stop := "end_turn"
	if a.endless {
		turn = min(turn, len(a.commands)-1)
	}
	if len(q.Tools) > 0 && turn < len(a.commands) {
		block = map[string]any{
			"type": "tool_use", "id": "toolu_" + rand.Text(), "name": "Bash",
			"input": map[string]any{"command": a.commands[turn], "description": "next"},
		}
		stop = "tool_use"
	}
	reply(w, q.Model, q.Stream, block, stop)
}

// reply writes one message, whole or as events.
func reply(w http.ResponseWriter, model string, stream bool, block map[string]any, stop string) {
	usage := map[string]int{"input_tokens": 1, "output_tokens": 1}
	message := map[string]any{
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": model, "content": []any{block},
		"stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !stream {
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		b, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	message["content"], message["stop_reason"] = []any{}, nil
	send("message_start", map[string]any{"message": message})
	empty, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": block["text"]}
	if stop == "tool_use" {
		input, _ := json.Marshal(block["input"])
		empty = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	send("content_block_start", map[string]any{"index": 0, "content_block": empty})
	send("content_block_delta", map[string]any{"index": 0, "delta": delta})
	send("content_block_stop", map[string]any{"index": 0})
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", map[string]any{})
}
