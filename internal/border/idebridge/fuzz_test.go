package idebridge

import (
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// FuzzClient sends any message of a client in the VM through a whole bridge: the
// IDE reads nothing but the few methods, and the bridge ends the client or answers
// the ping behind it.
func FuzzClient(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, call("1", "openDiff", diffOfA), call("1", "executeCode", `{"code":"x"}`),
		call("1", "getDiagnostics", `{"uri":"file:///project/%2e%2e"}`), `{"jsonrpc":"2.0","method":"ide_connected"}`, `[[[[`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWorld(t)
		w.editor.answers["ping"] = `"result":{}`
		w.connect()
		go func() { // a pipe takes nothing while nobody reads
			_ = w.vm.Write(t.Context(), websocket.MessageText, b)
			_ = w.vm.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":"last","method":"ping"}`))
		}()
		for {
			_, answer, err := w.vm.Read(t.Context())
			if err != nil || strings.Contains(string(answer), `"last"`) {
				break
			}
		}
		for _, m := range w.editor.sent() {
			switch m.Method {
			case "initialize", "ping", "tools/list", "tools/call", "notifications/initialized", "ide_connected":
			default:
				t.Errorf("%q: the IDE was sent %q", b, m.Method)
			}
		}
	})
}
