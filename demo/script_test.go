package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// tools is what a request has to offer.
const tools = `"tools":[{"name":"Bash"},{"name":"Read"},{"name":"Edit"}]`

// asked returns the request that answers turn n's call with result.
func asked(t *testing.T, n int, result string, isError bool) request {
	t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var r request
	body := fmt.Sprintf(`{"model":"m",%s,"messages":[{"role":"user","content":%q},{"role":"assistant","content":[]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s%d","is_error":%t,"content":%s}]},
		{"role":"system","content":"reminder"}]}`, tools, Prompt, idPrefix, n, isError, text)
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func first(t *testing.T) request {
	t.Helper()
	var r request
	body := fmt.Sprintf(`{%s,"messages":[{"role":"user","content":[{"type":"text","text":"<reminder>"},{"type":"text","text":%q}]}]}`, tools, Prompt)
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestScriptGoesThroughAllTurns(t *testing.T) {
	s := newScript("/project", "http://127.0.0.1:1/", "TOKEN")
	results := []struct {
		text    string
		isError bool
	}{
		{"Exit code 1\n" + failedLine, true}, {"3\t" + brokenLine, false}, {"updated", false},
		{passedLine, false}, {"Token: TOKEN", false}, {refusedHost + " is refused\nstatus 403", false},
	}
	if len(results) != len(s.turns) {
		t.Fatalf("%d results for %d turns", len(results), len(s.turns))
	}
	a := s.answer(first(t))
	for n, result := range results {
		use := a.content[len(a.content)-1]
		if a.err != nil || use.Type != "tool_use" || use.ID != fmt.Sprint(idPrefix, n) || use.Name != s.turns[n].tool {
			t.Fatalf("turn %d: %+v", n, a)
		}
		a = s.answer(asked(t, n, result.text, result.isError))
		if len(a.seen) == 0 || a.seen[len(a.seen)-1] != s.turns[n].step {
			t.Fatalf("turn %d proved %v", n, a.seen)
		}
	}
	if len(a.content) != 1 || a.content[0].Type != "text" || a.seen[0] != Ended {
		t.Errorf("end: %+v", a)
	}
}

func TestScriptStops(t *testing.T) {
	s := newScript("/project", "http://127.0.0.1:1/", "TOKEN")
	for _, c := range []struct {
		name    string
		n       int
		result  string
		isError bool
		want    string
	}{
		{"test passes too early", 0, passedLine, false, failedLine},
		{"file is missing", 1, "File does not exist." + brokenLine, true, "the tool failed"},
		{"other file", 1, "echo", false, "came back: echo"},
		{"edit refused", 2, "permission denied", true, "permission denied"},
		{"test still fails", 3, "Exit code 1", true, "the tool failed"},
		{"no token", 4, "Token: OTHER", false, "TOKEN"},
		{"not refused", 5, "hello\nstatus 200", false, "status 403"},
		{"refused without a reason", 5, "\nstatus 403", false, refusedHost},
		{"nothing", 5, "", false, "came back: nothing"},
		{"terminal codes", 1, "\x1b]0;x\x07", false, "?]0;x?"},
	} {
		a := s.answer(asked(t, c.n, c.result, c.isError))
		if a.err == nil || a.failed != s.turns[c.n].step || !strings.Contains(a.err.Error(), c.want) {
			t.Errorf("%s: err %v of step %v, want %q", c.name, a.err, a.failed, c.want)
		}
		if len(a.content) != 1 || a.content[0].Type != "text" || strings.ContainsRune(a.content[0].Text, '\x1b') {
			t.Errorf("%s: reply %+v", c.name, a.content)
		}
	}
}

func TestScriptStopsALoopAndAMissingTool(t *testing.T) {
	s := newScript("/project", "http://127.0.0.1:1/", "TOKEN")
	r := asked(t, 0, failedLine, true)
	r.Messages = append(make([]message, maxMessages), r.Messages...)
	if a := s.answer(r); a.err == nil || a.content[0].Type != "text" {
		t.Errorf("loop: %+v", a)
	}
	r = asked(t, 0, failedLine, true)
	r.Tools = r.Tools[:1]
	if a := s.answer(r); a.err == nil || a.failed != Read || !strings.Contains(a.err.Error(), "Read") {
		t.Errorf("missing tool: %+v", a)
	}
}

func TestScriptIsNeutralAside(t *testing.T) {
	s := newScript("/project", "http://127.0.0.1:1/", "TOKEN")
	title := first(t)
	title.Tools = nil
	other := first(t)
	other.Messages[0].Content = other.Messages[0].Content[:1]
	foreign := asked(t, 0, failedLine, true)
	foreign.Messages[2].Content[0].ToolUseID = "0"
	foreign.Messages[0].Content = nil
	for name, r := range map[string]request{"title": title, "other prompt": other, "foreign id": foreign, "empty": {}} {
		if a := s.answer(r); a.err != nil || len(a.seen) != 0 || a.content[0].Type != "text" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := (*script)(nil).answer(first(t)); a.content[0].Type != "text" {
		t.Errorf("no script: %+v", a)
	}
}
