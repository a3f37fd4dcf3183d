//go:build vm

package vm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aibox/internal/run"
)

const ideSecret = "token-of-the-editor"

// editor is an IDE on the host that has the box's project open. It speaks the
// messages of Claude Code's extensions.
type editor struct {
	t   *testing.T
	box *box
	// diff answers openDiff with what the user did to the proposed contents.
	diff func(path, contents string) []string

	mu       sync.Mutex
	conn     *websocket.Conn
	methods  []string // methods and tools, in order
	opened   []string // paths of diffs
	problems bool     // the next diagnostics have one
}

func newEditor(b *box) *editor {
	e := &editor{t: b.t, box: b}
	server := httptest.NewServer(e)
	b.t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		b.t.Fatal(err)
	}
	lock := map[string]any{"pid": os.Getpid(), "workspaceFolders": []string{b.project}, "ideName": "Test Editor", "transport": "ws", "authToken": ideSecret}
	text, _ := json.Marshal(lock)
	b.write(filepath.Join(b.home, ".claude", "ide", port+".lock"), string(text))
	return e
}

func (e *editor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Claude-Code-Ide-Authorization") != ideSecret {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(64 << 20)
	e.mu.Lock()
	e.conn = conn
	e.mu.Unlock()
	for {
		_, b, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments map[string]string
			}
		}
		_ = json.Unmarshal(b, &m)
		e.note(m.Method + " " + m.Params.Name)
		if m.ID == nil {
			continue
		}
		answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": e.answer(m.Method, m.Params.Name, m.Params.Arguments)})
		if conn.Write(context.Background(), websocket.MessageText, answer) != nil {
			return
		}
	}
}

func (e *editor) note(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.methods = append(e.methods, strings.TrimSpace(what))
}

func (e *editor) answer(method, tool string, arguments map[string]string) any {
	texts := func(list ...string) any {
		content := []any{}
		for _, s := range list {
			content = append(content, map[string]string{"type": "text", "text": s})
		}
		return map[string]any{"content": content}
	}
	switch method + " " + tool {
	case "initialize ":
		return map[string]any{"protocolVersion": "2025-03-26", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]string{"name": "Claude Code Test MCP", "version": "1.0.0"}}
	case "tools/list ":
		schema := map[string]any{"type": "object", "properties": map[string]any{}}
		var tools []any
		for _, name := range []string{"openDiff", "close_tab", "closeAllDiffTabs", "getDiagnostics", "openFile", "executeCode"} {
			tools = append(tools, map[string]any{"name": name, "description": name, "inputSchema": schema})
		}
		return map[string]any{"tools": tools}
	case "tools/call openDiff":
		e.mu.Lock()
		e.opened = append(e.opened, arguments["old_file_path"])
		diff := e.diff
		e.mu.Unlock()
		return texts(diff(arguments["new_file_path"], arguments["new_file_contents"])...)
	case "tools/call close_tab":
		return texts("TAB_CLOSED")
	case "tools/call closeAllDiffTabs":
		return texts("CLOSED_0_DIFF_TABS")
	case "tools/call getDiagnostics":
		return texts(e.diagnostics(arguments["uri"]))
	}
	return map[string]any{}
}

// diagnostics has a problem in a file of the project after a question for one
// file, and always one elsewhere.
func (e *editor) diagnostics(uri string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	problem := func(text string) []any {
		at := map[string]int{"line": 0, "character": 1}
		return []any{map[string]any{"message": text, "severity": "Error", "source": "test", "range": map[string]any{"start": at, "end": at}}}
	}
	list := []any{map[string]any{"uri": "file:///etc/elsewhere", "diagnostics": problem("problem-of-another-project")}}
	here := map[string]any{"uri": "file://" + filepath.Join(e.box.project, "notes.txt"), "diagnostics": []any{}}
	if e.problems {
		here["diagnostics"] = problem("problem-of-this-project")
	}
	if uri != "" { // Claude Code asks before it writes, and then for what is new
		e.problems = !e.problems
	}
	b, _ := json.Marshal(append([]any{here}, list...))
	return string(b)
}

// did tells whether a method or tool was asked for.
func (e *editor) did(what string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.methods {
		if m == what {
			return true
		}
	}
	return false
}

func (e *editor) await(what string) {
	e.t.Helper()
	deadline := time.Now().Add(bootDeadline)
	for !e.did(what) {
		if time.Now().After(deadline) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.t.Fatalf("the editor got %q and no %s", e.methods, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (e *editor) say(method string, params map[string]any) {
	e.t.Helper()
	e.mu.Lock()
	conn := e.conn
	e.mu.Unlock()
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	if err := conn.Write(context.Background(), websocket.MessageText, b); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) selects(path, text string) {
	at := map[string]int{"line": 2, "character": 0}
	end := map[string]int{"line": 2, "character": 5}
	e.say("selection_changed", map[string]any{"text": text, "filePath": path, "fileUrl": "file://" + path, "selection": map[string]any{"start": at, "end": end, "isEmpty": false}})
}

// keepsSelecting selects again and again, as a user does: Claude Code does not
// listen from the first moment.
func (e *editor) keepsSelecting(path, text string) (stop func()) {
	ctx, cancel := context.WithCancel(e.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(300 * time.Millisecond); ; {
			select {
			case <-tick:
				e.selects(path, text)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// writerAPI is a Messages API that has Claude Code write a file, and says then
// what it is told to.
type writerAPI struct {
	path, contents string
	// until is what the model has to be told; Claude Code gives the editor half a
	// second for its problems, which a slow machine can miss, so it writes three times.
	until string

	mu   sync.Mutex
	seen strings.Builder // all requests with tools
}

func (a *writerAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		_, _ = io.WriteString(w, `{"input_tokens":1,"message":"hello","data":[]}`)
		return
	}
	var q struct {
		Model    string
		Stream   bool
		Messages []struct{ Content json.RawMessage }
		Tools    []any
	}
	if json.Unmarshal(body, &q) != nil {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	block, stop := map[string]any{"type": "text", "text": "All-is-done"}, "end_turn"
	if len(q.Tools) > 0 {
		a.mu.Lock()
		a.seen.Write(body)
		a.mu.Unlock()
		written := 0
		for _, m := range q.Messages {
			written += strings.Count(string(m.Content), `"tool_result"`)
		}
		if a.path != "" && (written == 0 || written < 3 && a.until != "" && !a.saw(a.until)) {
			contents := a.contents + strings.Repeat("again\n", written)
			block, stop = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", written), "name": "Write", "input": map[string]any{"file_path": a.path, "content": contents}}, "tool_use"
		}
	}
	reply(w, q.Model, q.Stream, block, stop)
}

func (a *writerAPI) saw(text string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Contains(a.seen.String(), text)
}

// withIDE starts Claude Code on a terminal with an API and an editor.
func (b *box) withIDE(api http.Handler) *console {
	b.t.Helper()
	b.config("env: [ANTHROPIC_API_KEY]\nide: true\n")
	server := httptest.NewServer(api)
	b.t.Cleanup(server.Close)
	request := run.Request{Dir: b.project, Home: b.home, Image: b.image, Terminal: true, Upstream: server.URL, APIKey: "sk-ant-key",
		Command: "exec claude --permission-mode default"} // which asks before it writes
	text, err := json.Marshal(request)
	b.must(err)
	r, w, err := os.Pipe()
	b.must(err)
	defer r.Close()
	b.t.Cleanup(func() { w.Close() })
	_, err = w.Write(text)
	b.must(err)
	cmd := exec.Command(readEnvironment().aibox, run.SessionCommand)
	cmd.ExtraFiles = []*os.File{r}
	return b.onTerminal(cmd)
}

func (b *box) proxyLog() string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.state(), "proxy.log"))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// TestIDEWithClaudeCode goes through what a user sees: a selection in the editor,
// a diff that they change and accept, and the problems that the editor finds.
func TestIDEWithClaudeCode(t *testing.T) {
	b := newUser(t)
	b.write(filepath.Join(b.project, "notes.txt"), "one\ntwo\nthree\n")
	api := &writerAPI{path: "/project/notes.txt", contents: "proposed by claude\n", until: "problem-of-this-project"}
	e := newEditor(b)
	e.diff = func(path, contents string) []string {
		if !strings.HasPrefix(contents, "proposed by claude\n") {
			t.Errorf("the diff proposes %q", contents)
		}
		return []string{"FILE_SAVED", "changed by the user\n"}
	}
	c := b.withIDE(api)
	e.await("ide_connected")
	e.selects(filepath.Join(b.home, "secret.txt"), "selected-elsewhere")
	stop := e.keepsSelecting(filepath.Join(b.project, "notes.txt"), "selected-in-the-project")
	c.await(`selected|⧉`)
	stop()
	c.send("read notes.txt, then write it")
	c.awaitText("then write it")
	c.send("\r")
	e.await("tools/call openDiff")
	c.awaitText("All-is-done")
	if got, err := os.ReadFile(filepath.Join(b.project, "notes.txt")); string(got) != "changed by the user\n" {
		t.Errorf("notes.txt = %q, %v", got, err)
	}
	if len(e.opened) == 0 || e.opened[0] != filepath.Join(b.project, "notes.txt") {
		t.Errorf("diffs of %q", e.opened)
	}
	for text, want := range map[string]bool{
		"selected-in-the-project": true, "selected-elsewhere": false, "problem-of-this-project": true, "problem-of-another-project": false,
		"mcp__ide__getDiagnostics": true, "executeCode": false, ideSecret: false,
	} {
		if api.saw(text) != want {
			t.Errorf("the model sees %q: %v, want %v", text, !want, want)
		}
	}
	c.send("/exit")
	c.awaitText("/exit")
	c.send("\r")
	c.last()
	if log := b.proxyLog(); !strings.Contains(log, "held back ide: a selection outside the project") {
		t.Errorf("proxy.log:\n%s", log)
	}
}

func TestIDEDiffIsRejected(t *testing.T) {
	b := newUser(t)
	api := &writerAPI{path: "/project/new.txt", contents: "proposed by claude\n"}
	e := newEditor(b)
	e.diff = func(string, string) []string { return []string{"DIFF_REJECTED", "new.txt"} }
	c := b.withIDE(api)
	e.await("ide_connected")
	c.send("write new.txt")
	c.awaitText("write new.txt")
	c.send("\r")
	e.await("tools/call openDiff")
	e.await("tools/call close_tab")
	if _, err := os.Stat(filepath.Join(b.project, "new.txt")); err == nil {
		t.Error("a rejected file was written")
	}
}

// ideClient is a WebSocket client in the VM: it sends each argument as a message
// and prints what comes back. The token is its first argument, "-" for the run's.
const ideClient = `
import json, os, socket, struct, sys
token = sys.argv[1]
if token == "-": token = json.load(open(os.path.expanduser("~/.claude/ide/3131.lock")))["authToken"]
s = socket.create_connection(("127.0.0.1", 3131)); s.settimeout(20)
s.sendall(("GET / HTTP/1.1\r\nHost: 127.0.0.1:3131\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: mcp\r\nX-Claude-Code-Ide-Authorization: " + token + "\r\n\r\n").encode())
f = s.makefile("rb")
print(f.readline().decode().strip())
while f.readline().strip(): pass
for text in sys.argv[2:]:
    if text == "HOLD": sys.stdout.flush(); sys.stdin.read(); continue
    if text == "BIG": text = " " * (17 << 20)
    b = text.encode()
    try: s.sendall(bytes([0x81, 0xff]) + struct.pack(">Q", len(b)) + bytes(4) + b)
    except OSError as e: print("closed"); break
    h = f.read(2)
    if len(h) < 2 or h[0] & 15 == 8: print("closed"); break
    n = h[1]
    if n == 126: n = struct.unpack(">H", f.read(2))[0]
    if n == 127: n = struct.unpack(">Q", f.read(8))[0]
    print(f.read(n).decode())
`

func TestIDEHoldsBack(t *testing.T) {
	b := newUser(t)
	b.config("ide: true\n")
	b.write(filepath.Join(b.home, "outside", "secret"), "secret")
	if err := os.Symlink(filepath.Join(b.home, "outside"), filepath.Join(b.project, "link")); err != nil {
		t.Fatal(err)
	}
	e := newEditor(b)
	b.write(filepath.Join(b.project, "client.py"), ideClient)
	s := b.shell()
	s.must("test $CLAUDE_CODE_SSE_PORT = 3131 && test $(stat -c %a ~/.claude/ide/3131.lock) = 600")
	if out := s.must("cat ~/.claude/ide/*.lock; env"); strings.Contains(out, ideSecret) {
		t.Error("the editor's token is in the VM")
	}
	call := func(tool, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	}
	diff := func(path string) string {
		q, _ := json.Marshal(map[string]string{"old_file_path": path, "new_file_path": path, "new_file_contents": "", "tab_name": "t"})
		return call("openDiff", string(q))
	}
	client := "python3 /project/client.py"
	held := map[string]string{
		call("executeCode", `{"code":"1"}`):                            `the tool "executeCode"`,
		call("openFile", `{"filePath":"/etc/passwd"}`):                 `the tool "openFile"`,
		diff("/etc/passwd"):                                            `openDiff of "/etc/passwd"`,
		diff("/project/../etc/passwd"):                                 `openDiff of "/project/../etc/passwd"`,
		diff("/project/link/secret"):                                   `openDiff of "/project/link/secret"`,
		diff(`\\server\share`):                                         `openDiff of "\\\\server\\share"`,
		call("getDiagnostics", `{"uri":"file:///project/%2e%2e/etc"}`): `getDiagnostics of "file:///project/%2e%2e/etc"`,
		call("getDiagnostics", `{"uri":"file://server/project/a"}`):    `getDiagnostics of "file://server/project/a"`,
		call("getDiagnostics", `{"uri":"file:////server/share"}`):      `getDiagnostics of "file:////server/share"`,
		call("close_tab", `{"tab_name":"main.go"}`):                    `the closing of a tab`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read"}`:           `the request "resources/read"`,
	}
	line := client + " -"
	for message := range held {
		line += " " + quote(message)
	}
	out := s.must(line)
	if got := strings.Count(out, "held back by aibox"); got != len(held) || !strings.HasPrefix(out, "HTTP/1.1 101") {
		t.Errorf("%d of %d messages were held back:\n%s", got, len(held), out)
	}
	for message, what := range map[string]string{
		strings.Repeat("[", 1000): "nested too deeply", "no message": "not understood", "BIG": "too large",
	} {
		held[message] = what
		if out := s.must(client + " - " + quote(message)); !strings.Contains(out, "closed") {
			t.Errorf("%.20s: %s", message, out)
		}
	}
	if out := s.must(client + " wrong"); !strings.HasPrefix(out, "HTTP/1.1 401") {
		t.Errorf("a wrong token: %s", out)
	}
	held["token"] = "a client without the token"
	if out := s.must("mkfifo /tmp/hold; " + client + " - HOLD </tmp/hold >/tmp/first & exec 9>/tmp/hold; until grep -q 101 /tmp/first; do :; done; " + client + " -"); !strings.HasPrefix(out, "HTTP/1.1 409") {
		t.Errorf("a second client: %s", out)
	}
	held["second"] = "a second client"
	s.wait()
	log := b.proxyLog()
	for _, what := range held {
		if !strings.Contains(log, "held back ide: ") || !strings.Contains(log, what) {
			t.Errorf("proxy.log does not name %s", what)
		}
	}
	for _, m := range e.methods {
		t.Errorf("the editor was sent %s", m)
	}
}

func TestIDEOffByDefault(t *testing.T) {
	b := newUser(t)
	newEditor(b)
	s := b.shell()
	s.must("test -z \"$CLAUDE_CODE_SSE_PORT\" && ! test -e ~/.claude/ide && ! (exec 3<>/dev/tcp/127.0.0.1/3131) 2>/dev/null")
}
