package task

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

func testProgress() (*progress, *bytes.Buffer) {
	var out bytes.Buffer
	return newProgress(&out, func() time.Duration { return 90 * time.Second }), &out
}

const someOutput = `{"type":"system","subtype":"init","claude_code_version":"2.1","model":"m"}
{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"I look.\nAnd more."}]}}
{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","name":"Bash","input":{"command":"ls\n-l","description":"list"}}]}}
no json
{"type":"user","message":{"content":"x"}}
{"type":"assistant","message":{"id":"b","content":"bare text"}}
{"type":"assistant","message":{"id":"c","content":[{"type":"tool_use","name":"Odd","input":{"n":1}}]}}
{"type":"result","subtype":"success","is_error":false,"num_turns":7,"total_cost_usd":0.25,"result":"all done"}
`

func TestProgress(t *testing.T) {
	p, out := testProgress()
	if n, err := p.Write([]byte(someOutput)); n != len(someOutput) || err != nil {
		t.Fatal(n, err)
	}
	want := "Claude Code 2.1 started, model m\nturn 1, 1m30s: says: I look. And more.\nturn 1, 1m30s: Bash: ls -l\nturn 3, 1m30s: Odd\n"
	if out.String() != want {
		t.Errorf("lines:\n%s\nwant:\n%s", out, want)
	}
	if !p.finished() || p.result.Turns != 7 || p.result.CostUSD != 0.25 || p.result.Result != "all done" {
		t.Errorf("result %+v", p.result)
	}
}

func FuzzProgress(f *testing.F) {
	f.Add([]byte(someOutput), 30)
	f.Add([]byte("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\\n\\u001b\"}]}}\n"), 3)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole, wholeOut := testProgress()
		_, _ = whole.Write(b)
		split, splitOut := testProgress()
		cut = max(0, min(cut, len(b)))
		_, _ = split.Write(b[:cut])
		_, _ = split.Write(b[cut:])
		if wholeOut.String() != splitOut.String() || fmt.Sprint(whole.result) != fmt.Sprint(split.result) {
			t.Errorf("cut at %d: %q, want %q", cut, splitOut, wholeOut)
		}
	})
}

func TestCappedAndSaid(t *testing.T) {
	var b bytes.Buffer
	c := &capped{w: &b, left: 5}
	for range 3 {
		if n, err := c.Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
	}
	if b.String() != "abcab" {
		t.Errorf("kept %q", b.String())
	}
	s := &said{}
	for range 1000 {
		_, _ = s.Write([]byte("a line of words\n"))
	}
	if len(s.text) > 2*maxSaid || s.line() != ": a line of words" {
		t.Errorf("%d bytes, last %q", len(s.text), s.line())
	}
}
