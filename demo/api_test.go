package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const testKey = "sk-the-key-of-the-host"

// call sends one request to an API with the real script and returns the answer
// and what the API reported.
func call(method, path, body string, header map[string]string) (*httptest.ResponseRecorder, []answer) {
	var reports []answer
	api := &API{key: testKey, script: newScript("/project", "http://127.0.0.1:1/", "TOKEN"),
		report: func(a answer) { reports = append(reports, a) }}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w, reports
}

func TestAPIServesWhatClaudeCodeCalls(t *testing.T) {
	key := map[string]string{"X-Api-Key": testKey}
	for _, c := range []struct {
		method, path, body string
		header             map[string]string
		status             int
		want               string
	}{
		{"POST", "/v1/messages?beta=true", `{"model":"m","messages":[]}`, key, 200, `"role":"assistant"`},
		{"POST", "/v1/messages", `{"stream":true,"messages":[]}`, key, 200, "event: message_stop"},
		{"POST", "/v1/messages/count_tokens?beta=true", `{}`, key, 200, "input_tokens"},
		{"GET", "/v1/models?limit=1000", "", key, 200, `"data":[]`},
		{"GET", "/api/hello", "", nil, 200, "hello"},
		{"GET", "/v1/other", "", key, 404, "not_found_error"},
		{"POST", "/v1/messages", "{", key, 400, "invalid_request_error"},
		{"POST", "/v1/messages", strings.Repeat(" ", maxBody+1), key, 413, "request_too_large"},
		{"POST", "/v1/messages", `{}`, nil, 400, "without the key"},
		{"POST", "/v1/messages", `{}`, map[string]string{"X-Api-Key": "placeholder"}, 400, "without the key"},
		{"POST", "/v1/messages", `{}`, map[string]string{"X-Api-Key": testKey, "Authorization": "Bearer x"}, 400, "login of the VM"},
		{"POST", "/v1/messages", `{"x":"` + testKey + `"}`, key, 400, "the VM knows it"},
	} {
		w, reports := call(c.method, c.path, c.body, c.header)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s %.40q: %d %s, want %d with %q", c.method, c.path, c.body, w.Code, w.Body, c.status, c.want)
		}
		if failed := len(reports) > 0 && reports[0].err != nil; failed != (c.status == 400 && c.body != "{") {
			t.Errorf("%s %s %.40q: reported %+v", c.method, c.path, c.body, reports)
		}
	}
}

// TestReplyForms reads a streamed reply the way a client does and compares it
// with the whole one.
func TestReplyForms(t *testing.T) {
	content := append(text("I run it."), block{Type: "tool_use", ID: "toolu_1", Name: "Bash", Input: map[string]any{"command": "ls"}})
	r := newReply("m", content)
	var kinds, partial []string
	for _, event := range strings.Split(strings.TrimSuffix(string(r.events()), "\n\n"), "\n\n") {
		head, data, ok := strings.Cut(event, "\ndata: ")
		var e struct {
			Type  string
			Delta struct {
				Text        string
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); !ok || err != nil || head != "event: "+e.Type {
			t.Fatalf("event %q: %v", event, err)
		}
		kinds = append(kinds, e.Type)
		partial = append(partial, e.Delta.Text+e.Delta.PartialJSON+e.Delta.StopReason)
	}
	one := "content_block_start content_block_delta content_block_stop "
	if got, want := strings.Join(kinds, " "), "message_start "+one+one+"message_delta message_stop"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if got, want := strings.Join(partial, ""), `I run it.{"command":"ls"}tool_use`; got != want {
		t.Errorf("streamed %q, want %q", got, want)
	}
	if again := newReply("m", content); again.ID == r.ID {
		t.Error("two replies have one id")
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}]}`))
	f.Add(fmt.Appendf(nil, `{"stream":true,%s,"messages":[{"role":"user","content":[{"type":"text","text":%q}]}]}`, tools, Prompt))
	f.Add(fmt.Appendf(nil, `{%s,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_demo_0","content":[{"type":"text","text":%q}]}]}]}`, tools, failedLine))
	f.Add(fmt.Appendf(nil, `{%s,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_demo_99999999999999999999","content":[[[]]]}]}]}`, tools))
	f.Fuzz(func(t *testing.T, body []byte) {
		w, _ := call("POST", "/v1/messages", string(body), map[string]string{"X-Api-Key": testKey})
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("status %d", w.Code)
		}
		if strings.ContainsAny(w.Body.String(), "\x1b\r") {
			t.Errorf("the reply passes control characters on: %q", w.Body)
		}
	})
}
