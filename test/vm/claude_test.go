//go:build vm

package vm

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aibox/demo"
	"aibox/internal/run"
)

// claude starts Claude Code on a terminal, against a scripted API whose key the
// VM does not know.
func (b *box) claude(change func(*run.Request)) *console {
	b.t.Helper()
	const key = "sk-ant-the-key-that-only-the-host-holds"
	api := serve(b.t, demo.NewAPI(key).ServeHTTP)
	request := run.Request{Dir: b.project, Home: b.home, Image: b.image, Terminal: true, Upstream: api.URL, APIKey: key}
	change(&request)
	text, err := json.Marshal(request)
	b.must(err)
	r, w, err := os.Pipe()
	b.must(err)
	defer r.Close()
	b.t.Cleanup(func() { w.Close() }) // its end would end the run
	_, err = w.Write(text)
	b.must(err)
	cmd := exec.Command(readEnvironment().aibox, run.SessionCommand)
	cmd.ExtraFiles = []*os.File{r}
	return b.onTerminal(cmd)
}

// awaitText is await for text on a screen that may be drawn with cursor moves in
// the place of spaces.
func (c *console) awaitText(text string) {
	c.t.Helper()
	words := strings.Fields(text)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	c.await(strings.Join(words, `(?:\s|\x1b\[[0-9;?]*[A-Za-z])*`))
}

func TestClaudeCodeOnATerminal(t *testing.T) {
	b := newUser(t)
	b.config("env: [ANTHROPIC_API_KEY]\n")
	c := b.claude(func(*run.Request) {})
	c.awaitText("Claude Code")
	c.awaitText("/project")
	c.send("please say anything")
	c.awaitText("please say anything")
	c.send("\r")
	c.awaitText("This reply is scripted.")
	c.send("/exit")
	c.awaitText("/exit")
	c.send("\r")
	screen, code := c.last()
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	m := regexp.MustCompile(`aibox: to continue this session: aibox run --resume ([0-9a-f-]{36})\r?\n`).FindStringSubmatch(screen)
	if m == nil {
		t.Fatal("no command that resumes the session was printed")
	}
	if found, _ := filepath.Glob(filepath.Join(b.state(), "home", ".claude", "projects", "*", m[1]+".jsonl")); len(found) != 1 {
		t.Errorf("sessions of that id: %v", found)
	}

	again := b.claude(func(r *run.Request) { r.Resume = m[1] })
	again.awaitText("please say anything")
	again.awaitText("This reply is scripted.")
	again.send("/exit")
	again.awaitText("/exit")
	again.send("\r")
	if _, code := again.last(); code != 0 {
		t.Errorf("resumed: exit code %d", code)
	}
}
