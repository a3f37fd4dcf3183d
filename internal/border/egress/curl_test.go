package egress

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aibox/test/conns"
)

// TestCurl runs the real curl as programs in the VM do.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("found no curl, want it for this test alone")
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s %d", r.Proto, r.Method, r.URL, n)
	}
	secure, w := server(t, true, handler)
	open, _ := server(t, false, handler)
	w.answers = map[string][]string{"example.com": {"8.8.8.8"}, "inner.example.com": {"10.0.0.7"}}
	w.hosts["8.8.8.8:80"] = open.Listener.Addr().String()
	w.hosts["127.0.0.1:8080"] = open.Listener.Addr().String()
	p, _ := w.proxy(t, "example.com", "example.com:80", "inner.example.com", "127.0.0.1:8080")

	dir := t.TempDir()
	ca, upload := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "upload")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	for name, content := range map[string][]byte{ca: cert, upload: make([]byte, 3<<20)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	proxy := "http://" + conns.Serve(t, p.Serve)
	for _, c := range []struct {
		name, args, want string
		fails            bool
	}{
		{"TLS", "--http1.1 https://example.com/a", "HTTP/1.1 GET /a 0", false},
		{"HTTP/2", "--http2 https://example.com/a", "HTTP/2.0 GET /a 0", false},
		{"plain", "http://example.com/a?b=c", "HTTP/1.1 GET /a?b=c 0", false},
		{"two on one connection", "http://example.com/a http://example.com/b", "HTTP/1.1 GET /a 0HTTP/1.1 GET /b 0", false},
		{"upload with Expect", "-T " + upload + " http://example.com/up", "HTTP/1.1 PUT /up 3145728", false},
		{"upload in chunks", "-T " + upload + " -H Transfer-Encoding:chunked http://example.com/up", "HTTP/1.1 PUT /up 3145728", false},
		{"tunnel for plain HTTP", "--proxytunnel http://example.com/a", "HTTP/1.1 GET /a 0", false},
		{"host's loopback", "http://localhost:8080/a", "HTTP/1.1 GET /a 0", false},
		{"refused tunnel", "-v https://other.example/", `HTTP/1.1 403 aibox: other.example:443 is not allowed; to allow it add to "allow" in the project's config: - other.example`, true},
		{"refused plain", "http://other.example/", `aibox: other.example:80 is not allowed; to allow it add to "allow" in the project's config: - other.example:80`, false},
		{"private", "-v https://inner.example.com/", `resolves to 10.0.0.7, an address of the host's own networks (private); to allow that address add to "allow" in the project's config: - 10.0.0.7:443`, true},
		{"number", "--proxytunnel -v http://2130706433:8081/", "403 aibox: 127.0.0.1:8081 is not allowed", true},
	} {
		cmd := exec.CommandContext(t.Context(), curl, append([]string{"-sS", "--max-time", "20", "--proxy", proxy, "--cacert", ca}, strings.Fields(c.args)...)...)
		cmd.Env = []string{"HOME=" + dir}
		out, err := cmd.CombinedOutput()
		if (err != nil) != c.fails || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s\nwant %s", c.name, err, out, c.want)
		}
	}
}
