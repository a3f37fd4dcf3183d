package demo

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"aibox/internal/plain"
)

// Prompt is what Claude Code is asked. The script knows its conversation by it.
const Prompt = "The test of this project fails. Find the bug, mend it, and run the test again. " +
	"Then fetch the page of the allowed host, and try the host that is not allowed."

// refusedHost is a name nobody can own. The proxy refuses it before any lookup.
const refusedHost = "not-allowed.example"

// idPrefix begins the id of each tool call of the script; the turn's number follows.
const idPrefix = "toolu_demo_"

// answer is a reply to one request and what the request told.
type answer struct {
	content []block // one or more
	seen    []Step  // steps that the request proved
	failed  Step    // the step that err, if any, concerns
	err     error   // why the script stops here
}

// turn is one tool call of the script and what its result has to hold.
type turn struct {
	step  Step
	say   string
	tool  string
	input map[string]any
	check func(result block) error
}

// script is the conversation. It keeps no state: what to answer follows from
// the request alone, so that a request sent twice is answered twice.
type script struct{ turns []turn }

// newScript returns the script for a project at dir in the VM and a page at
// pageURL that holds token.
func newScript(dir, pageURL, token string) *script {
	file := path.Join(dir, mendedFile)
	bash := func(command, why string) map[string]any {
		return map[string]any{"command": command, "description": why}
	}
	const runTest, fetch = "sh ./test.sh", "curl -sS --max-time 30 "
	return &script{[]turn{
		{TestFailed, "I run the test first.", "Bash", bash(runTest, "Run the test"), holds(failedLine)},
		{Read, "65 minutes are wrong. I read the program.", "Read",
			map[string]any{"file_path": file}, all(worked, holds(brokenLine))},
		{Edited, "Minutes below ten lack their zero.", "Edit",
			map[string]any{"file_path": file, "old_string": brokenLine, "new_string": fixedLine}, worked},
		{TestPassed, "I run the test again.", "Bash", bash(runTest, "Run the test again"), all(worked, holds(passedLine))},
		{HostReached, "I fetch the page of the allowed host.", "Bash",
			bash(fetch+pageURL, "Fetch the allowed page"), all(worked, holds(token))},
		{HostRefused, "I try the host that is not allowed.", "Bash",
			bash(fetch+`-w '\nstatus %{http_code}\n' http://`+refusedHost+"/", "Try a host that is not allowed"),
			all(holds("status 403"), holds(refusedHost))},
	}}
}

// answer decides what to reply to r.
func (s *script) answer(r request) answer {
	if s == nil || len(r.Tools) == 0 {
		return answer{content: text("This reply is scripted.")} // such as a request for a title
	}
	for _, result := range r.results() {
		n, ok := s.turn(result.ToolUseID)
		if !ok {
			continue
		}
		t := s.turns[n]
		if err := t.check(result); err != nil {
			return stop(t.step, err)
		}
		if len(r.Messages) > maxMessages {
			return stop(t.step, errors.New("the conversation does not end"))
		}
		a := s.call(r, n+1)
		a.seen = append(a.seen, t.step)
		return a
	}
	if r.asks(Prompt) {
		return s.call(r, 0)
	}
	return answer{content: text("This reply is scripted.")}
}

// turn returns the number of the turn whose tool call has the id.
func (s *script) turn(id string) (int, bool) {
	number, ok := strings.CutPrefix(id, idPrefix)
	n, err := strconv.Atoi(number)
	return n, ok && err == nil && n >= 0 && n < len(s.turns)
}

// call returns the tool call of turn n, or the last words after the last turn.
func (s *script) call(r request, n int) answer {
	if n == len(s.turns) {
		return answer{content: text("The bug is mended and the test passes."), seen: []Step{Ended}}
	}
	t := s.turns[n]
	if !r.offers(t.tool) {
		return stop(t.step, fmt.Errorf("the tool %s of Claude Code is not offered", t.tool))
	}
	use := block{Type: "tool_use", ID: idPrefix + strconv.Itoa(n), Name: t.tool, Input: t.input}
	return answer{content: append(text(t.say), use)}
}

// stop ends the conversation, since step failed by err.
func stop(step Step, err error) answer {
	return answer{content: text("The demo stops here: " + err.Error()), failed: step, err: err}
}

func text(s string) []block { return []block{{Type: "text", Text: s}} }

// worked refuses a tool's failure.
func worked(result block) error {
	if result.IsError {
		return errors.New("the tool failed: " + shown(result))
	}
	return nil
}

// holds returns a check that the result's text holds want.
func holds(want string) func(block) error {
	return func(result block) error {
		if !strings.Contains(result.Content.text(), want) {
			return fmt.Errorf("%q is not in what came back: %s", want, shown(result))
		}
		return nil
	}
}

// all returns a check that passes when each of checks does.
func all(checks ...func(block) error) func(block) error {
	return func(result block) error {
		for _, check := range checks {
			if err := check(result); err != nil {
				return err
			}
		}
		return nil
	}
}

// shown quotes a result in a message.
func shown(result block) string {
	lines := strings.TrimSpace(result.Content.text())
	if s := plain.LineMax(strings.ReplaceAll(lines, "\n", "; "), maxShown); s != "" {
		return s
	}
	return "nothing"
}
