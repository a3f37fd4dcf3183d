package task

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

func newTestLines(asJSON bool) (*Lines, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	return &Lines{id: "1129-abc", err: &err, out: &out, json: asJSON, now: func() time.Time { return time.Date(2026, 11, 29, 18, 5, 4, 0, time.UTC) }}, &out, &err
}

func TestNothingOfTheVMBeginsALine(t *testing.T) {
	l, out, err := newTestLines(false)
	s := &splitter{take: l.vm}
	_, _ = s.Write([]byte("18:05:04 aibox[1129-abc] all is well\n\x1b[2J\x1b]0;t\x07\raibox: ok\r\n\u202eabc\u2028x\n\n"))
	_, _ = s.Write([]byte(strings.Repeat("y", 100000)))
	s.flush()
	l.Own("own %s", "words\nand a second line")
	form := regexp.MustCompile(`^18:05:04 (aibox|vm)\[1129-abc\] [^\x00-\x1f\x7f]*\n$`)
	var voices []string
	for line := range strings.Lines(err.String()) {
		m := form.FindStringSubmatch(line)
		if m == nil || len(line) > 2*maxLineBytes {
			t.Errorf("the line %.100q has another form", line)
			continue
		}
		voices = append(voices, m[1])
	}
	if got := strings.Join(voices, " "); got != "vm vm vm vm aibox" {
		t.Errorf("voices %q", got)
	}
	if out.Len() > 0 {
		t.Errorf("stdout %q", out)
	}
}

func TestOwnLinesAreNotCutAsTheVMsAre(t *testing.T) {
	l, _, err := newTestLines(false)
	command := FetchCommand("/"+strings.Repeat("p", 700), "/"+strings.Repeat("b", 700), "1129-abc")
	l.Own("%s", command)
	l.vm(command)
	own, vm, _ := strings.Cut(err.String(), "\n")
	if !strings.HasSuffix(own, command) || len(vm) > maxLineBytes+50 {
		t.Errorf("lines of %d and %d bytes", len(own), len(vm))
	}
}

func TestTheVMCannotFloodTheTerminal(t *testing.T) {
	l, _, err := newTestLines(false)
	for range maxLines + 1000 {
		l.vm("x")
	}
	if got := strings.Count(err.String(), "\n"); got != maxLines+1 || !strings.Contains(err.String(), "more are not shown") {
		t.Errorf("%d lines", got)
	}
}

func TestEventsAreOneJSONALine(t *testing.T) {
	l, out, _ := newTestLines(true)
	l.vm("a <b> \x1b\n")
	l.event(startEvent{Event: "start", Task: "1129-abc"})
	d := json.NewDecoder(out)
	var line lineEvent
	if err := d.Decode(&line); err != nil || line.Event != "line" || line.From != "vm" || line.Text != "a <b> ??" {
		t.Errorf("event %+v, %v", line, err)
	}
	var start startEvent
	if err := d.Decode(&start); err != nil || start.Event != "start" {
		t.Errorf("event %+v, %v", start, err)
	}
}

// FuzzLines holds that what a VM writes can only be its own lines.
func FuzzLines(f *testing.F) {
	f.Add("12:00:00 aibox[x] hi\n\x1b[2J\r\n", 5)
	f.Add("\n\n\u0085\u2028", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		l, _, err := newTestLines(false)
		s := &splitter{take: l.vm}
		cut = max(0, min(cut, len(text)))
		_, _ = s.Write([]byte(text[:cut]))
		_, _ = s.Write([]byte(text[cut:]))
		s.flush()
		for line := range strings.Lines(err.String()) {
			if !strings.HasPrefix(line, "18:05:04 vm[1129-abc] ") || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\r\n\u2028\u0085") {
				t.Errorf("line %q", line)
			}
		}
	})
}
