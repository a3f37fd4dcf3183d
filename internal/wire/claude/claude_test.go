package claude

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

const someOutput = `{"type":"system","subtype":"init","claude_code_version":"2.1","model":"m"}
{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}
no event
[]
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}}
{"type":"assistant","message":{"id":"b","content":"bare text"}}
{"type":"result","subtype":"success","num_turns":7,"total_cost_usd":0.25,"result":"all done"}
`

// read returns the events of an output that comes in the given parts.
func read(max int, parts ...string) (events []Event) {
	r := &Reader{MaxLine: max, Take: func(e Event) { events = append(events, e) }}
	for _, part := range parts {
		_, _ = r.Write([]byte(part))
	}
	return events
}

func TestReader(t *testing.T) {
	want := []Event{
		{Type: "system", Subtype: "init", Version: "2.1", Model: "m"},
		{Type: "assistant", Message: Message{ID: "a", Content: Blocks{{Type: "tool_use", Name: "Bash", Input: map[string]any{"command": "ls"}}}}},
		{Type: "user", Message: Message{Content: Blocks{{Type: "tool_result", ToolUseID: "toolu_1"}}}},
		{Type: "assistant", Message: Message{ID: "b"}},
		{Type: "result", Subtype: "success", Turns: 7, CostUSD: 0.25, Result: "all done"},
	}
	got := read(1000, someOutput)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("events %+v, want %+v", got, want)
	}
	if !got[0].Starts() || got[1].Starts() || got[3].Ends() || !got[4].Ends() {
		t.Error("the first or the last event is not known")
	}
	if again := read(1000, strings.SplitAfter(someOutput, "")...); !reflect.DeepEqual(again, want) {
		t.Errorf("byte by byte: %+v", again)
	}
}

func TestSucceeds(t *testing.T) {
	for line, want := range map[string]bool{
		`{"type":"result","subtype":"success"}`:                 true,
		`{"type":"result","subtype":"success","is_error":true}`: false,
		`{"type":"result","subtype":"error_max_turns"}`:         false,
		`{"type":"result"}`:                                     false,
		`{"type":"system","subtype":"success"}`:                 false,
	} {
		if e := read(1000, line+"\n"); len(e) != 1 || e[0].Succeeds() != want {
			t.Errorf("%s: %+v, want %v", line, e, want)
		}
	}
}

func TestLongLinesAreDropped(t *testing.T) {
	r := &Reader{MaxLine: 100, Take: func(Event) { t.Error("an event of a line that is too long") }}
	for range 50 {
		_, _ = r.Write([]byte(`{"type": `))
	}
	if len(r.line) > 100 {
		t.Errorf("%d bytes are held", len(r.line))
	}
	_, _ = r.Write([]byte("\"x\"}\n"))
	var next Event
	r.Take = func(e Event) { next = e }
	_, _ = r.Write([]byte(`{"type":"y"}` + "\n"))
	if next.Type != "y" {
		t.Errorf("the line behind it is %+v", next)
	}
}

// FuzzReader holds that it does not matter where the output is cut.
func FuzzReader(f *testing.F) {
	f.Add([]byte(someOutput), 30)
	f.Add([]byte(`{"type":"assistant","message":{"content":{"x":[]}}}`+"\n"), 3)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		cut = max(0, min(cut, len(b)))
		whole, parts := read(200, string(b)), read(200, string(b[:cut]), string(b[cut:]))
		if !reflect.DeepEqual(whole, parts) {
			t.Errorf("cut at %d: %+v, want %+v", cut, parts, whole)
		}
		if len(whole) > bytes.Count(b, []byte("\n")) {
			t.Errorf("%d events of %q", len(whole), b)
		}
	})
}
