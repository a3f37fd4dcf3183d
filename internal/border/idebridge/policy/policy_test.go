package policy

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"aibox/internal/border/idebridge/paths"
)

func policyOf() Policy {
	return Policy{PID: 7, Project: paths.Project{Roots: []string{"/src/app"}, Check: func(rel string) error {
		if strings.HasPrefix(rel+"/", "link/") {
			return errors.New("link")
		}
		return nil
	}}}
}

// checkHeld asks that an error is one printable line of bounded length.
func checkHeld(t *testing.T, err error) {
	t.Helper()
	h := (*HeldError)(nil)
	if !errors.As(err, &h) || h.What == "" || len(h.What) > maxWhat+len("…") || strings.ContainsFunc(h.What, unicode.IsControl) {
		t.Errorf("error %q", err)
	}
}

// FuzzCall asks that a request that passes names only files of the project.
func FuzzCall(f *testing.F) {
	for _, s := range []string{
		`{"name":"openDiff","arguments":{"old_file_path":"/project/a","new_file_path":"/project/b","new_file_contents":"x","tab_name":"t"}}`,
		`{"name":"openDiff","arguments":{"old_file_path":"/project/a","OLD_FILE_PATH":"/etc/passwd","new_file_path":"/project/b","tab_name":"t"}}`,
		`{"name":"getDiagnostics","arguments":{"uri":"file:///project/%2e%2e/x"}}`,
		`{"name":"close_tab","arguments":{"tab_name":"t"}}`,
		`{"name":"executeCode","arguments":{"code":"1"}}`,
		`{"protocolVersion":"2025-03-26","clientInfo":{"name":"x\u001b"}}`,
	} {
		for _, method := range []string{"tools/call", "initialize", "tools/list", "ping", "x"} {
			f.Add(method, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		c, err := policyOf().Call(method, params)
		if err != nil {
			checkHeld(t, err)
			if c != (Call{}) {
				t.Errorf("an error and %+v", c)
			}
			return
		}
		b, err := json.Marshal(c.Params)
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Name      string
			Arguments struct {
				Old string `json:"old_file_path"`
				New string `json:"new_file_path"`
				URI string `json:"uri"`
			}
		}
		if c.Params != nil && json.Unmarshal(b, &out) != nil {
			t.Errorf("params %s", b)
		}
		if _, ok := tools()[out.Name]; c.Method == "tools/call" && !ok {
			t.Errorf("the tool %q passes", out.Name)
		}
		for _, path := range []string{out.Arguments.Old, out.Arguments.New} {
			if c.Kind == OpenDiff && (!strings.HasPrefix(path, "/src/app/") || strings.Contains(path, "/../")) {
				t.Errorf("the path %q passes", path)
			}
		}
		if u := out.Arguments.URI; u != "" && !strings.Contains(u, ":/src/app") && !strings.Contains(u, ":///src/app") {
			t.Errorf("the URI %q passes", u)
		}
	})
}

// FuzzToVM asks that nothing of the IDE reaches the VM but what is about files of
// the project.
func FuzzToVM(f *testing.F) {
	for _, s := range []string{
		`{"text":"x","filePath":"/src/app/a","selection":{"start":{"line":1,"character":2},"end":{"line":1,"character":2}}}`,
		`{"text":"x","filePath":"/etc/passwd"}`,
		`{"filePath":"/src/app/a","lineStart":1}`,
		`{"content":[{"type":"text","text":"[{\"uri\":\"file:///src/app/a\",\"diagnostics\":[{\"message\":\"m\",\"code\":{}}]}]"}]}`,
		`{"content":[{"type":"text","text":"FILE_SAVED"},{"type":"text","text":"x"}]}`,
		`{"protocolVersion":"2025-03-26","serverInfo":{"name":"x"}}`,
		`{"tools":[{"name":"openDiff","inputSchema":{}},{"name":"executeCode","inputSchema":{}}]}`,
	} {
		f.Add("selection_changed", 0, []byte(s))
		f.Add("at_mentioned", 6, []byte(s))
		f.Add("x", 2, []byte(s))
	}
	f.Fuzz(func(t *testing.T, method string, kind int, b []byte) {
		p := policyOf()
		note, err := p.NoteToVM(method, b)
		if err != nil {
			checkHeld(t, err)
		}
		switch n := note.(type) {
		case selection:
			if !strings.HasPrefix(n.FilePath, "/project") {
				t.Errorf("the path %q passes", n.FilePath)
			}
		case mention:
			if !strings.HasPrefix(n.FilePath, "/project") {
				t.Errorf("the path %q passes", n.FilePath)
			}
		}
		answer, err := p.Answer(Kind(kind), b)
		if err != nil {
			checkHeld(t, err)
			return
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Errorf("%+v: %v", answer, err)
		}
		if list, ok := answer.(toolList); ok {
			for _, tool := range list.Tools {
				if _, ok := tools()[tool.Name]; !ok {
					t.Errorf("the tool %q is offered", tool.Name)
				}
			}
		}
	})
}
