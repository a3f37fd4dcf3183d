package keygate

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"/v1/messages", "/v1/messages"},
		{"/v1/messages?beta=true", "/v1/messages"},
		{"/v1/messages?next=/../x%2f", "/v1/messages"},
		{"/v1/models/claude-3.5_x:1~a", "/v1/models/claude-3.5_x:1~a"},
		{"/v1/...", "/v1/..."},
		{"/v1/.x", "/v1/.x"},
		{"/api/hello", "/api/hello"},
		{"/api/hello?x", "/api/hello"},
		{"http://evil.example/v1/messages?beta=true", "/v1/messages"},
		{"https://evil.example:1/api/hello", "/api/hello"},

		{"", ""}, {"*", ""}, {"/", ""}, {"/v1", ""}, {"/v1/", ""}, {"/v2/messages", ""}, {"/V1/messages", ""}, {"/api", ""}, {"/api/hello/", ""},
		{"/api/hello/x", ""}, {"/api/hellox", ""}, {"/api/oauth", ""}, {"/v1x/messages", ""}, {"v1/messages", ""},
		{"/v1/../api/x", ""}, {"/v1/./messages", ""}, {"/v1/..", ""}, {"/v1/.", ""}, {"/../v1/messages", ""}, {"/x/../v1/messages", ""},
		{"/v1/%2e%2e/x", ""}, {"/v1/%2E%2E/x", ""}, {"/v1/.%2e/x", ""}, {"/v1%2fmessages", ""}, {"/%76%31/messages", ""}, {"/v1/a%00", ""}, {"/v1/%25", ""},
		{"/v1//messages", ""}, {"//v1/messages", ""}, {"/v1/messages/", ""}, {"//evil.example/v1/messages", ""}, {"/v1/..\\x", ""}, {"/v1\\..\\x", ""}, {"\\v1\\x", ""},
		{"/v1/..;/x", ""}, {"/v1/a;b=c", ""}, {"/v1/a#b", ""}, {"/v1/a b", ""}, {"/v1/a\tb", ""}, {"/v1/a\r\nX: y", ""}, {"/v1/ä", ""}, {"/v1/．．/x", ""}, {"/v1/a@b", ""},
		{"http://evil.example", ""}, {"http://evil.example?/v1/messages", ""}, {"http://evil.example#/v1/messages", ""}, {"http://evil.example\\/v1/messages", ""},
		{"http://evil.example/x/../v1/messages", ""}, {"http:/v1/messages", ""}, {"://", ""}, {"evil.example:443", ""},
		{"/v1/" + strings.Repeat("a", maxPath), ""},
	} {
		got, err := Path("POST", c.target)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("Path(%q) = %q, %v, want %q", c.target, got, err, c.want)
		}
	}
	for _, method := range []string{"CONNECT", "TRACE", "OPTIONS", "PRI", "get", "", "PROPFIND", "POST "} {
		if got, err := Path(method, "/v1/messages"); err == nil {
			t.Errorf("%q passed as %q", method, got)
		}
	}
}

func TestClean(t *testing.T) {
	header := http.Header{}
	for _, name := range dropped {
		header.Set(name, "x")
		if header[name] == nil {
			t.Errorf("%s is not in canonical form, so it is never dropped", name)
		}
	}
	header["X_api_key"], header["X_Forwarded_Host"], header["X.api.key"] = []string{"x"}, []string{"x"}, []string{"x"}
	header.Set("Anthropic-Version", "2023-06-01")
	header.Set("Content-Type", "application/json")
	if clean(header); len(header) != 2 {
		t.Errorf("left: %v", header)
	}
}

// FuzzPath holds that what passes means the same to whoever reads it.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"/v1/messages?beta=true", "/api/hello", "http://x/v1/a", "/v1/%2e%2e/x", "/v1//x", "/v1/../x", "//x/v1/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		path, err := Path("GET", target)
		if err != nil {
			if path != "" {
				t.Errorf("Path(%q) = %q beside an error", target, path)
			}
			return
		}
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Path != path || u.JoinPath().Path != path || u.EscapedPath() != path || u.Host != "" {
			t.Errorf("Path(%q) = %q, which others read as %v, %v", target, path, u, err)
		}
		if path != "/api/hello" && !strings.HasPrefix(path, "/v1/") {
			t.Errorf("Path(%q) = %q", target, path)
		}
	})
}
