package demo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func newTestStream() (*stream, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return newStream(newBoard(out, time.Now), newScript("/project", "http://127.0.0.1:1/", "TOKEN")), out
}

const someOutput = `{"type":"system","subtype":"init","claude_code_version":"2.1.\u001b332"}
no event
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_demo_1","content":"x"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"x"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"done"}
`

func TestStreamTellsTheBoard(t *testing.T) {
	s, out := newTestStream()
	if _, err := s.Write([]byte("{\"a\":\"" + strings.Repeat("x", 3*maxLine))); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Write([]byte("\"}\n"))
	var whole bytes.Buffer
	if _, err := whole.ReadFrom(iotest.OneByteReader(strings.NewReader(someOutput))); err != nil {
		t.Fatal(err)
	}
	for _, b := range whole.Bytes() { // as the link may cut it
		_, _ = s.Write([]byte{b})
	}
	for step, want := range map[Step]witness{Started: byClaude, Read: byClaude, Ended: byClaude, Edited: 0} {
		if got := s.board.seen[step]; got != want {
			t.Errorf("%v was seen by %v, want %v", step, got, want)
		}
	}
	if !strings.Contains(out.String(), "started in the VM (version 2.1.?332)") {
		t.Errorf("printed %q", out)
	}
}

func TestStreamTellsAFailure(t *testing.T) {
	s, _ := newTestStream()
	_, _ = s.Write([]byte(`{"type":"result","subtype":"success","is_error":true,"result":"no\u0007 money"}` + "\n"))
	if err := s.board.errs[Ended]; err == nil || err.Error() != "Claude Code says: success no? money" {
		t.Errorf("error %v", err)
	}
}

func TestTail(t *testing.T) {
	var tl tail
	fmt.Fprintf(&tl, "first\n%s\n\n  \n", strings.Repeat("a", 10*maxShown))
	if got := tl.String(); got != strings.Repeat("a", maxShown) {
		t.Errorf("got %d bytes", len(got))
	}
	fmt.Fprint(&tl, "no \x1bline end")
	if got := tl.String(); got != "no ?line end" {
		t.Errorf("got %q", got)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(someOutput), 7)
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_demo_-1"}]}}`+"\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole, wholeOut := newTestStream()
		_, _ = whole.Write(b)
		split, splitOut := newTestStream()
		cut = max(0, min(cut, len(b)))
		_, _ = split.Write(b[:cut])
		_, _ = split.Write(b[cut:])
		if whole.board.seen != split.board.seen {
			t.Errorf("cut at %d, other steps were seen: %v, %v", cut, whole.board.seen, split.board.seen)
		}
		if strings.ContainsAny(wholeOut.String()+splitOut.String(), "\x1b\r") {
			t.Error("control characters are printed")
		}
	})
}
