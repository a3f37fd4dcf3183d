//go:build hostile

package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// apiWorks is the control: a request of the API's own reaches the upstream with the key.
func (x *scene) apiWorks(t *testing.T) {
	t.Helper()
	got := x.vm.raw(t, 3129, "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:3129\r\nConnection: close\r\n\r\n")
	if !strings.Contains(got, " 200 ") || x.api.last().Header.Get("X-Api-Key") != x.key {
		t.Fatalf("control: %q, with %v", got, x.api.last().Header)
	}
}

func (x *scene) apiPaths(t *testing.T) {
	x.apiWorks(t)
	for _, line := range []string{
		"GET / ", "GET /v1 ", "GET /admin ", "GET /api/hello/x ", "GET /api/other ", "GET /v2/messages ", "GET //v1/messages ", "GET /v1//messages ",
		"GET /v1/../admin ", "GET /v1/./models ", "GET /v1/.. ", "GET /v1/%2e%2e/admin ", "GET /v1/..%2fadmin ", "GET /v1/%2E%2E%2Fadmin ", "GET /v1/..;/admin ",
		"GET /v1/..\\admin ", "GET /v1/%5c..%5cadmin ", "GET /%76%31/models ", "GET /v1/models%00 ", "GET /v1/models%0d%0aX-Evil:1 ", "GET /V1/models ", "GET v1/models ",
		"GET http://127.0.0.1:1/admin ", "GET http://evil.example/../admin ", "GET http://evil.example?/v1/models ", "GET http://evil.example\\/v1/models ", "GET * ",
		"CONNECT 127.0.0.1:1 ", "TRACE /v1/models ", "OPTIONS * ", "PROPFIND /v1/models ", "GET /v1/models HTTP/1.1\r\nX: y\r\n\r\nGET /admin ",
	} {
		attack(t, fmt.Sprintf("API: %q", strings.TrimSpace(line)), "keygate: one spelling", true, func(t *testing.T) {
			before := x.api.count()
			x.vm.raw(t, 3129, line+"HTTP/1.1\r\nHost: 127.0.0.1:3129\r\nConnection: close\r\n\r\n")
			if x.api.count() == before {
				return
			}
			if p := x.api.last().URL.Path; p != "/v1/models" || !strings.Contains(line, "\r\n") {
				t.Errorf("the upstream was asked for %q", p)
			}
		})
	}
}

func (x *scene) apiRequests(t *testing.T) {
	const head = "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:3129\r\n"
	const inner = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, request := range sorted(map[string]string{
		"length and chunks":           head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"two lengths":                 head + "Content-Length: 0\r\nContent-Length: 40\r\n\r\n" + inner,
		"a blank before the colon":    head + "Content-Length : 40\r\n\r\n" + inner,
		"an unknown coding":           head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
		"a folded header":             head + "X: a\r\n\tX-Api-Key: evil\r\nContent-Length: 0\r\n\r\n" + inner,
		"a header with a line feed":   head + "X: a\nX-Evil: b\r\nContent-Length: 0\r\n\r\n" + inner,
		"a method override":           head + "X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /smuggled\r\nX-Rewrite-URL: /smuggled\r\nContent-Length: 0\r\n\r\n",
		"another host":                "POST http://evil.example/v1/messages HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nContent-Length: 0\r\n\r\n",
		"credentials of its own":      head + "X-Api-Key: evil\r\nx_api_key: evil\r\nAuthorization: Bearer evil\r\nCookie: a=evil\r\nProxy-Authorization: evil\r\nContent-Length: 0\r\n\r\n",
		"a hop header that drops one": head + "Connection: X-Api-Key, close\r\nContent-Length: 0\r\n\r\n",
		"an upgrade":                  head + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n",
		"a trailer with a key":        head + "Transfer-Encoding: chunked\r\nTrailer: X-Api-Key\r\n\r\n0\r\nX-Api-Key: evil\r\n\r\n",
		"a head of 200 KiB":           head + "X: " + strings.Repeat("smuggled", 25<<10) + "\r\n\r\n",
	}) {
		attack(t, "API: "+name, "keygate: rewritten requests", true, func(t *testing.T) {
			before := x.api.count()
			x.vm.raw(t, 3129, request)
			if x.api.count() == before {
				return
			}
			r := x.api.last()
			if r.URL.Path != "/v1/messages" || r.Method != "POST" || r.Host != fmt.Sprintf("127.0.0.1:%d", x.api.port) || !slices.Equal(r.Header["X-Api-Key"], []string{x.key}) {
				t.Errorf("the upstream saw %s %s of %s with the keys %q", r.Method, r.URL, r.Host, r.Header["X-Api-Key"])
			}
			for _, name := range []string{"X_api_key", "Authorization", "Cookie", "Proxy-Authorization", "X-Forwarded-Host", "X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override", "Upgrade"} {
				if r.Header[name] != nil || r.Trailer[name] != nil {
					t.Errorf("the upstream saw %s: %q", name, r.Header[name])
				}
			}
		})
	}
	attack(t, "API: a redirect to another host", "keygate: responses", true, func(t *testing.T) {
		before := x.api.count()
		got := x.vm.raw(t, 3129, "GET /v1/redirect HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if x.api.count() != before+1 || strings.Contains(got, "elsewhere") || strings.Contains(got, " 307 ") {
			t.Errorf("the VM got %q", got)
		}
	})
	attack(t, "API: a response that repeats the key in its head", "keygate: responses", true, func(t *testing.T) {
		before := x.api.count()
		got := x.vm.raw(t, 3129, "GET /v1/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if x.api.count() != before+1 || strings.Contains(got, x.key) || !strings.Contains(got, "reached") {
			t.Errorf("the VM got %q", got)
		}
	})
}

func (x *scene) apiKey(t *testing.T) {
	attack(t, "API key: in the memory, environment and arguments of all processes", "the key stays on the host", true, func(t *testing.T) {
		inverted := func(text string) (out string) {
			for _, c := range []byte(text) {
				out += fmt.Sprintf("%02x", ^c)
			}
			return out
		}
		// the control finds the placeholder in the session's environment
		if out, code := x.vm.do(t, asRoot("/project/attacker vm scan "+inverted("aibox-keeps-the-key"))); code != 0 {
			t.Fatalf("control: the placeholder was not found: %s", out)
		}
		out, code := x.vm.do(t, asRoot("/project/attacker vm scan "+inverted(x.key)))
		if code == 0 || !strings.Contains(out, "memory scanned") {
			t.Errorf("%d: %s", code, out)
		}
		t.Log(out)
	})
	attack(t, "API key: in a file that aibox keeps or shares", "the key stays on the host", false, func(t *testing.T) {
		err := filepath.WalkDir(x.home, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || d.Name() == "attacker" || d.Name() == "state.ext4" {
				return nil
			}
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(x.key)) {
				t.Errorf("%s holds the key", path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	attack(t, "API key: in the arguments and environment that the VM's session has", "the key stays on the host", true, func(t *testing.T) {
		out := x.vm.must(t, "env")
		if !strings.Contains(out, "ANTHROPIC_API_KEY=aibox") || strings.Contains(out, x.key) {
			t.Errorf("the environment is %s", out)
		}
	})
}
