package idebridge

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aibox/internal/border/idebridge/message"
	"aibox/internal/border/idebridge/paths"
	"aibox/internal/border/idebridge/policy"
)

const (
	vmToken  = "token-of-the-vm"
	ideToken = "token-of-the-ide"
	hostRoot = "/src/app"
)

// editor is an IDE: it answers requests with what answers holds, by method or tool.
type editor struct {
	t       *testing.T
	answers map[string]string

	mu   sync.Mutex
	got  []message.Message
	conn *websocket.Conn
	here chan struct{}
}

func (e *editor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(tokenHeader) != ideToken || strings.Contains(r.Header.Get("Origin"), "http") {
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
	e.here <- struct{}{}
	for {
		_, b, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		m, err := message.Parse(b)
		if err != nil {
			e.t.Errorf("the IDE was sent %s", b)
		}
		e.mu.Lock()
		e.got = append(e.got, m)
		e.mu.Unlock()
		var call struct{ Name string }
		_ = json.Unmarshal(m.Params, &call)
		if answer := e.answers[m.Method+call.Name]; m.ID != nil && answer != "" {
			_ = conn.Write(context.Background(), websocket.MessageText,
				[]byte(`{"jsonrpc":"2.0","id":`+string(m.ID)+`,`+answer+`}`))
		}
	}
}

func (e *editor) say(text string) {
	e.t.Helper()
	e.mu.Lock()
	conn := e.conn
	e.mu.Unlock()
	if err := conn.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		e.t.Error(err)
	}
}

// sent returns what the IDE got since the last call.
func (e *editor) sent() []message.Message {
	e.mu.Lock()
	defer e.mu.Unlock()
	got := e.got
	e.got = nil
	return got
}

// world is a bridge between an editor and what the test plays in the VM.
type world struct {
	t      *testing.T
	bridge *Bridge
	editor *editor
	vm     *websocket.Conn

	mu   sync.Mutex
	held []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, editor: &editor{t: t, answers: map[string]string{}, here: make(chan struct{}, 8)}}
	server := httptest.NewServer(w.editor)
	t.Cleanup(server.Close)
	_, text, _ := net.SplitHostPort(server.Listener.Addr().String())
	port, _ := strconv.ParseUint(text, 10, 16)
	w.bridge = New(Config{
		Policy: policy.Policy{PID: 42, Project: paths.Project{Roots: []string{hostRoot}, Check: func(rel string) error {
			if strings.HasPrefix(rel+"/", "link/") {
				return errors.New("link")
			}
			return nil
		}}},
		Token: vmToken, IDEToken: ideToken, Port: uint16(port),
		HeldBack: func(what string) { w.mu.Lock(); defer w.mu.Unlock(); w.held = append(w.held, what) },
	})
	return w
}

// dial connects a client with a token.
func (w *world) dial(token string) (*websocket.Conn, *http.Response, error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		guest, host := net.Pipe()
		go w.bridge.Serve(host)
		return guest, nil
	}}}
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	header := http.Header{}
	if token != "" {
		header.Set(tokenHeader, token)
	}
	return websocket.Dial(ctx, "ws://127.0.0.1:3131", &websocket.DialOptions{HTTPClient: client, HTTPHeader: header, Subprotocols: []string{"mcp"}})
}

func (w *world) connect() {
	w.t.Helper()
	var err error
	if w.vm, _, err = w.dial(vmToken); err != nil {
		w.t.Fatal(err)
	}
	w.vm.SetReadLimit(64 << 20)
	w.t.Cleanup(func() { _ = w.vm.CloseNow() })
	<-w.editor.here
}

func (w *world) send(text string) {
	w.t.Helper()
	if err := w.vm.Write(w.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read() string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	_, b, err := w.vm.Read(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// ask sends a request and returns the answer.
func (w *world) ask(text string) string { w.t.Helper(); w.send(text); return w.read() }

func (w *world) heldBack() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held
	w.held = nil
	return held
}

func (w *world) want(got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHandshakeAndTools(t *testing.T) {
	w := newWorld(t)
	w.editor.answers = map[string]string{
		"initialize": `"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"Claude Code X MCP","version":"1"},"instructions":"rm -rf"}`,
		"tools/list": `"result":{"tools":[{"name":"openDiff","description":"d","inputSchema":{"type":"object"}},{"name":"executeCode","inputSchema":{}},{"name":"openFile","inputSchema":{}},{"name":"getDiagnostics","inputSchema":{}}]}`,
		"ping":       `"result":{"secret":1}`,
	}
	w.connect()
	w.want(w.ask(`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"claude-code","version":"2"},"_meta":{"x":1}}}`),
		`{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"Claude Code X MCP","version":"1"}}}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"x":1}}`)
	w.send(`{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":1}}`)
	w.want(w.ask(`{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{"cursor":"x"}}`),
		`{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"openDiff","description":"d","inputSchema":{"type":"object"}},{"name":"getDiagnostics","inputSchema":{}}]}}`)
	w.want(w.ask(`{"jsonrpc":"2.0","id":7,"method":"ping"}`), `{"jsonrpc":"2.0","id":7,"result":{}}`)
	var sent []string
	for _, m := range w.editor.sent() {
		b, _ := json.Marshal(m)
		sent = append(sent, string(b))
	}
	want := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":42}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
	}
	w.want(strings.Join(sent, "\n"), strings.Join(want, "\n"))
	if held := w.heldBack(); len(held) > 0 {
		t.Errorf("held back %q", held)
	}
}

func call(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

const diffOfA = `{"old_file_path":"/project/a.go","new_file_path":"/project/a.go","new_file_contents":"<new>\n","tab_name":"✻ [Claude Code] a.go ⧉","extra":1}`

func TestDiffs(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{"content":[{"type":"text","text":"FILE_SAVED"},{"type":"text","text":"edited"}]}`:  `"result":{"content":[{"type":"text","text":"FILE_SAVED"},{"type":"text","text":"edited"}]}`,
		`"result":{"content":[{"type":"text","text":"DIFF_REJECTED"},{"type":"text","text":"a.go"}]}`: `"result":{"content":[{"type":"text","text":"DIFF_REJECTED"}]}`,
		`"result":{"content":[{"type":"text","text":"TAB_CLOSED"}],"_meta":{"x":1}}`:                  `"result":{"content":[{"type":"text","text":"TAB_CLOSED"}]}`,
		`"result":{"content":[{"type":"text","text":"/home/me/secret"}],"isError":true}`:              `"result":{"content":[{"type":"text","text":"the IDE could not do it"}],"isError":true}`,
		`"error":{"code":-32000,"message":"ENOENT /home/me/secret"}`:                                  `"error":{"code":-32000,"message":"the IDE answered with an error"}`,
		`"result":{"content":[{"type":"text","text":"something else"}]}`:                              `"error":{"code":-32603,"message":"an answer of the IDE to openDiff that is not understood is held back by aibox"}`,
		`"result":{"content":[{"type":"text","text":"FILE_SAVED"}]}`:                                  `"error":{"code":-32603,"message":"an answer of the IDE to openDiff that is not understood is held back by aibox"}`,
	} {
		w := newWorld(t)
		w.editor.answers["tools/callopenDiff"] = answer
		w.editor.answers["tools/callclose_tab"] = `"result":{"content":[{"type":"text","text":"x"}]}`
		w.connect()
		w.want(w.ask(call(`"d"`, "openDiff", diffOfA)), `{"jsonrpc":"2.0","id":"d",`+want+`}`)
		sent := w.editor.sent()
		w.want(string(sent[0].Params), `{"name":"openDiff","arguments":{"old_file_path":"/src/app/a.go","new_file_path":"/src/app/a.go","new_file_contents":"<new>\n","tab_name":"✻ [Claude Code] a.go ⧉"}}`)
		w.want(w.ask(call("2", "close_tab", `{"tab_name":"✻ [Claude Code] a.go ⧉"}`)), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"TAB_CLOSED"}]}}`)
	}
}

func TestHeldBack(t *testing.T) {
	w := newWorld(t)
	w.connect()
	diff := func(path string) string {
		b, _ := json.Marshal(path)
		return strings.Replace(diffOfA, `"/project/a.go"`, string(b), 1)
	}
	for _, c := range []struct{ request, what string }{
		{call("1", "executeCode", `{"code":"1"}`), `the tool "executeCode"`},
		{call("1", "openFile", `{"filePath":"/etc/passwd"}`), `the tool "openFile"`},
		{call("1", "openFile", `{"filePath":"/project/a.go"}`), `the tool "openFile"`},
		{call("1", "OpenDiff", diffOfA), `the tool "OpenDiff"`},
		{call("1", "saveDocument", `{}`), `the tool "saveDocument"`},
		{call("1", "a\\u001b[31m", `{}`), `the tool "a\x1b[31m"`},
		{call("1", "openDiff", diff("/etc/passwd")), `openDiff of "/etc/passwd", which is not surely in the project`},
		{call("1", "openDiff", diff("/project")), `openDiff of "/project", which is not surely in the project`},
		{call("1", "openDiff", diff("/project/../x")), `openDiff of "/project/../x", which is not surely in the project`},
		{call("1", "openDiff", diff("/project/link/x")), `openDiff of "/project/link/x", which is not surely in the project`},
		{call("1", "openDiff", diff(`\\server\x`)), `openDiff of "\\\\server\\x", which is not surely in the project`},
		{call("1", "openDiff", diff("/src/app/a.go")), `openDiff of "/src/app/a.go", which is not surely in the project`},
		{call("1", "openDiff", strings.Replace(diffOfA, "✻", "\\u202e", 1)), "openDiff with the title \"\\u202e [Claude Code] a.go ⧉\""},
		{call("1", "openDiff", `[]`), "a broken openDiff"},
		{call("1", "close_tab", `{"tab_name":"main.go"}`), "the closing of a tab that is no diff of the VM's"},
		{call("1", "getDiagnostics", `{"uri":"file:///etc/passwd"}`), `getDiagnostics of "file:///etc/passwd", which is not surely in the project`},
		{call("1", "getDiagnostics", `{"uri":"file:///project/%2e%2e/x"}`), `getDiagnostics of "file:///project/%2e%2e/x", which is not surely in the project`},
		{call("1", "getDiagnostics", `{"uri":"file://host/project/x"}`), `getDiagnostics of "file://host/project/x", which is not surely in the project`},
		{call("1", "getDiagnostics", `{"uri":"file:////host/share"}`), `getDiagnostics of "file:////host/share", which is not surely in the project`},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}`, `the request "resources/read"`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}}`, "a broken initialize"},
	} {
		answer := w.ask(c.request)
		if m, err := message.Parse([]byte(answer)); err != nil || m.Error == nil || string(m.ID) != "1" {
			t.Errorf("%s: answer %s", c.request, answer)
		}
		if held := w.heldBack(); len(held) != 1 || held[0] != c.what {
			t.Errorf("%s: held back %q, want %q", c.request, held, c.what)
		}
		if sent := w.editor.sent(); len(sent) > 0 {
			t.Errorf("%s: the IDE was sent %v", c.request, sent)
		}
	}
	for _, c := range []struct{ note, what string }{
		{`{"jsonrpc":"2.0","method":"selection_changed","params":{}}`, `the notification "selection_changed"`},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, "an answer of the VM, which was asked nothing"},
	} {
		w.send(c.note)
		w.editor.answers["ping"] = `"result":{}`
		w.ask(`{"jsonrpc":"2.0","id":5,"method":"ping"}`) // later than the note
		if held := w.heldBack(); len(held) != 1 || held[0] != c.what {
			t.Errorf("%s: held back %q, want %q", c.note, held, c.what)
		}
	}
}

// TestBrokenMessages end the client's connection and nothing else.
func TestBrokenMessages(t *testing.T) {
	for text, what := range map[string]string{
		`{`: "a client that sent a message that is not understood",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: "a client that sent a message that is not understood",
		strings.Repeat("[", 1000):                    "a client that sent a message that is nested too deeply",
		strings.Repeat(" ", message.Max+1):           "a message that is too large",
	} {
		w := newWorld(t)
		w.connect()
		_ = w.vm.Write(t.Context(), websocket.MessageText, []byte(text))
		if _, b, err := w.vm.Read(t.Context()); err == nil {
			t.Errorf("%.40q is answered by %q", text, b)
		}
		w.connect() // another client is welcome, once the first has gone
		if held := w.heldBack(); len(held) == 0 || held[0] != what {
			t.Errorf("%.40q: held back %q, want %q", text, held, what)
		}
		for _, m := range w.editor.sent() {
			t.Errorf("%.40q: the IDE was sent %+v", text, m)
		}
	}
}

func TestClients(t *testing.T) {
	w := newWorld(t)
	for _, token := range []string{"", "wrong", ideToken, vmToken + "x"} {
		if _, answer, err := w.dial(token); err == nil || answer == nil || answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("token %q: %v", token, err)
		}
		if held := w.heldBack(); len(held) != 1 || held[0] != "a client without the token" {
			t.Errorf("token %q: held back %q", token, held)
		}
	}
	w.connect()
	if _, answer, err := w.dial(vmToken); err == nil || answer == nil || answer.StatusCode != http.StatusConflict {
		t.Errorf("a second client: %v", err)
	}
	if held := w.heldBack(); len(held) != 1 || held[0] != "a second client" {
		t.Errorf("a second client: held back %q", held)
	}
	w.bridge.config.IDEToken = "wrong"
	_ = w.vm.CloseNow()
	for { // until the first client's end was noticed
		_, answer, err := w.dial(vmToken)
		if err == nil {
			t.Fatal("a client without an IDE")
		}
		if answer != nil && answer.StatusCode == http.StatusBadGateway {
			break
		}
	}
}

func TestNotesOfTheIDE(t *testing.T) {
	w := newWorld(t)
	w.connect()
	w.editor.say(`{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"secret","filePath":"/home/me/.ssh/id","selection":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}}}}`)
	w.editor.say(`{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"secret","filePath":"/src/app/link/id"}}`)
	w.editor.say(`{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"secret","filePath":"Untitled-1"}}`)
	w.editor.say(`{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/etc/passwd"}}`)
	w.editor.say(`{"jsonrpc":"2.0","method":"log_event","params":{}}`)
	w.editor.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	w.editor.say(`{"jsonrpc":"2.0","id":99,"result":{"x":1}}`)
	w.editor.say(`no message`)
	w.editor.say(`{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"sel","filePath":"/src/app/a b.go","fileUrl":"file:///elsewhere","selection":{"start":{"line":1,"character":2},"end":{"line":3,"character":4},"isEmpty":false},"x":1}}`)
	w.want(w.read(), `{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"sel","filePath":"/project/a b.go","fileUrl":"file:///project/a%20b.go","selection":{"start":{"line":1,"character":2},"end":{"line":3,"character":4},"isEmpty":false}}}`)
	w.editor.say(`{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/src/app/a.go","lineStart":0,"lineEnd":4}}`)
	w.want(w.read(), `{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/project/a.go","lineStart":0,"lineEnd":4}}`)
	want := "a selection outside the project|a selection outside the project|a selection outside the project|a mention of a file outside the project|" +
		`the IDE's notification "log_event"|a message that is not understood of the IDE`
	w.want(strings.Join(w.heldBack(), "|"), want)
}

func TestDiagnostics(t *testing.T) {
	list := `[{"uri":"file:///src/app/a%20b.go","diagnostics":[{"message":"m","severity":"Error","source":"go","code":"x","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}},"relatedInformation":[{"uri":"/home/me"}]},{"message":"n","severity":1,"code":{"target":"/home/me"}}]},` +
		`{"uri":"file:///home/me/other.go","diagnostics":[{"message":"secret"}]},{"uri":"file:///src/app/link/x","diagnostics":[]},{"uri":"_claude_fs_right:/src/app/c.go","diagnostics":null}]`
	quoted, _ := json.Marshal(list)
	w := newWorld(t)
	w.editor.answers["tools/callgetDiagnostics"] = `"result":{"content":[{"type":"text","text":` + string(quoted) + `}]}`
	w.connect()
	m, err := message.Parse([]byte(w.ask(call("1", "getDiagnostics", `{"uri":"file:///project/a b.go"}`))))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(m.Result, &got); err != nil || len(got.Content) != 1 {
		t.Fatalf("%s: %v", m.Result, err)
	}
	w.want(got.Content[0].Text, `[{"uri":"file:///project/a%20b.go","diagnostics":[{"message":"m","severity":"Error","source":"go","code":"x","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}},{"message":"n","severity":1}]},`+
		`{"uri":"_claude_fs_right:/project/c.go","diagnostics":[]}]`)
	w.want(string(w.editor.sent()[0].Params), `{"name":"getDiagnostics","arguments":{"uri":"file:///src/app/a%20b.go"}}`)
	w.ask(call("2", "getDiagnostics", `{}`))
	w.want(string(w.editor.sent()[0].Params), `{"name":"getDiagnostics","arguments":{}}`)
}

// TestTooManyRequests keeps what waits for the IDE bounded.
func TestTooManyRequests(t *testing.T) {
	w := newWorld(t)
	w.connect()
	for range maxOpen {
		w.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	if got := w.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); !strings.Contains(got, "too many") {
		t.Errorf("answer %s", got)
	}
}
