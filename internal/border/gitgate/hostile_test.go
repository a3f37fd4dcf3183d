package gitgate

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"aibox/internal/border/gitgate/push"
	"aibox/test/conns"
	"aibox/test/heap"
)

func itoa(n int) string { return strconv.Itoa(n) }

func update(ref string) string { return idA + " " + idB + " " + ref }

func TestHostileBodies(t *testing.T) {
	many := []string{update("refs/heads/main") + caps}
	for i := range 1000 {
		many = append(many, update("refs/heads/x"+itoa(i)))
	}
	f := &fakeServer{}
	g, rec := fakeGate(f)
	for _, c := range []struct {
		name, uri, body string
		status          int
		want            string // in the answer
	}{
		{"push: nothing", pushURI, "", 400, "malformed"},
		{"push: cut", pushURI, packets(update("refs/heads/main") + caps)[:50], 400, "unexpected EOF"},
		{"push: no flush", pushURI, strings.TrimSuffix(packets(update("refs/heads/main")+caps), "0000"), 400, "unexpected EOF"},
		{"push: oversized", pushURI, "ffff" + strings.Repeat("x", 70000), 400, "malformed pkt-line"},
		{"push: delimiter", pushURI, "0001", 400, "delimiter"},
		{"push: response end", pushURI, "0002", 400, "end packet"},
		{"push: late capabilities", pushURI, packets(update("refs/heads/main")+caps, update("refs/heads/y")+caps), 400, "malformed command"},
		{"push: NUL", pushURI, packets(update("refs/heads/ma\x00in") + caps), 400, "two lists"},
		{"push: a thousand commands", pushURI, packets(many...) + "PACK", 200, "more than 256 refs"},
		{"push: dots", pushURI, packets(update("refs/heads/../main") + caps), 200, "not a valid name"},
		{"push: options", pushURI, packets(update("refs/heads/main")+caps+" push-options") + packets("x"), 200, "push options are not passed on"},
		{"push: signed", pushURI, packets("push-cert"+caps, "certificate version 0.1\n", update("refs/heads/main"), "push-cert-end\n"), 200, "signed push is not"},
		{"push: no report asked for", pushURI, packets(update("refs/heads/off") + "\x00"), 403, "branch not listed"},
		{"push: behind the probe", pushURI, "0000PACK", 400, "malformed"},
		{"fetch: cut", fetchURI, packets("command=fetch")[:10], 200, "ERR aibox: " + testRepo + ": malformed fetch: it ends too early"},
		{"fetch: other command", fetchURI, packets("command=push"), 200, "no known command"},
		{"fetch: two commands", fetchURI, packets("command=fetch") + packets("command=fetch"), 200, "something follows"},
		{"fetch: version 0", fetchURI, packets("want " + idA + "\n"), 200, "no known command"},
	} {
		status, got := whole(t, g, c.uri, "", c.body)
		if c.name == "push: nothing" {
			c.want = "unexpected EOF"
		}
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.name, status, got, c.status, c.want)
		}
	}
	if len(f.bodies) > 0 {
		t.Errorf("the server got %q", f.bodies)
	}
	if n := strings.Count(rec.String(), "refused git "); n < 18 {
		t.Errorf("%d refusals in the log:\n%s", n, rec)
	}
}

func TestProbes(t *testing.T) {
	f := &fakeServer{}
	g, rec := fakeGate(f)
	for _, uri := range []string{fetchURI, pushURI} {
		if status, body := whole(t, g, uri, "", "0000"); status != 200 || body != "" {
			t.Errorf("%s: %d %q", uri, status, body)
		}
	}
	if len(f.bodies) > 0 || rec.String() != "" {
		t.Errorf("the server got %q, the log is %q", f.bodies, rec)
	}
}

func pack(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzip(t *testing.T) {
	f := &fakeServer{}
	g, _ := fakeGate(f)
	fetch := packets("command=fetch", "|", "done\n")
	if status, _ := whole(t, g, fetchURI, "Content-Encoding: gzip\r\n", pack(t, fetch)); status != 200 || len(f.bodies) != 1 || string(f.bodies[0]) != fetch {
		t.Fatalf("%d, the server got %q", status, f.bodies)
	}
	f.bodies = nil
	for name, c := range map[string]struct{ encoding, body, want string }{
		"no gzip":     {"gzip", fetch, "incomplete or malformed"},
		"empty":       {"gzip", "", "it ends too early"},
		"cut":         {"gzip", pack(t, fetch)[:25], "it ends too early"},
		"bomb":        {"gzip", pack(t, packets("command=fetch", "|")[:21]+strings.Repeat(packets(strings.Repeat("x", 60000))[:60004], 1200)), "more than"},
		"unknown":     {"br", fetch, "other than gzip"},
		"two of them": {"gzip\r\nContent-Encoding: gzip", fetch, "other than gzip"},
		"in a list":   {"gzip, gzip", fetch, "other than gzip"},
	} {
		if _, got := whole(t, g, fetchURI, "Content-Encoding: "+c.encoding+"\r\n", c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if len(f.bodies) > 0 {
		t.Errorf("the server got %d requests", len(f.bodies))
	}
}

// TestTargets is what table tests of package route show, through the gate.
func TestTargets(t *testing.T) {
	g, _ := fakeGate(&fakeServer{})
	for _, uri := range []string{
		"/" + testHost + "/me/../me/app/git-receive-pack", "/" + testHost + "/me%2fapp/git-receive-pack", "//" + testRepo + "/git-receive-pack",
		"http://" + testRepo + "/git-receive-pack", "/" + testRepo + "/git-receive-pack?x", "/" + testRepo + "/objects/info/packs", "*",
	} {
		if status, body := whole(t, g, uri, "", ""); status != 403 && status != 400 {
			t.Errorf("%s: %d %q", uri, status, body)
		}
	}
}

// TestSilence gives up on a VM and on a server that say nothing more.
func TestSilence(t *testing.T) {
	hung := &fakeServer{hang: true}
	g, rec := fakeGate(hung)
	g.silence = 50 * time.Millisecond
	if status, got := whole(t, g, fetchURI, "", packets("command=fetch")); status != 200 || !strings.Contains(got, "ERR aibox: "+testRepo+": nothing was sent for 50ms") {
		t.Errorf("a silent server: %d %q", status, got)
	}
	resp := post(t, g, pushURI, "Content-Length: 1000\r\n", strings.NewReader(packets(update("refs/heads/main") + caps)[:30]))
	if resp.StatusCode != 400 {
		t.Errorf("a silent VM: %d", resp.StatusCode)
	}
	if !strings.Contains(rec.String(), "failed git fetch "+testRepo+": nothing was sent for 50ms") {
		t.Errorf("the log is\n%s", rec)
	}
}

// TestAnswerBreaks wants no answer that looks complete.
func TestAnswerBreaks(t *testing.T) {
	f := &fakeServer{answer: io.MultiReader(strings.NewReader("0008half"), broken{})}
	g, rec := fakeGate(f)
	body := packets("command=fetch")
	resp := post(t, g, fetchURI, "Content-Length: "+itoa(len(body))+"\r\n", strings.NewReader(body))
	if b, err := io.ReadAll(resp.Body); err == nil || string(b) != "0008half" {
		t.Errorf("%q, %v", b, err)
	}
	if !strings.Contains(rec.String(), "the server broke") {
		t.Errorf("the log is\n%s", rec)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the server broke") }

// zeros is a long pack.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestMemoryIsFlat passes 256 MiB in each direction, and reads as much of a
// refused push.
func TestMemoryIsFlat(t *testing.T) {
	const size = 256 << 20
	f := &fakeServer{}
	g, _ := fakeGate(f)
	address := conns.Serve(t, g.Serve)
	peak := heap.Watch(t)
	send := func(uri string, body io.Reader) int64 {
		resp, err := http.Post("http://"+address+uri, "", struct{ io.Reader }{body})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("%d, %v", resp.StatusCode, err)
		}
		return n
	}
	command := packets(update("refs/heads/main") + caps)
	send(pushURI, io.MultiReader(strings.NewReader(command), zeros(size)))
	if len(f.sizes) != 1 || f.sizes[0] != -1 {
		t.Errorf("the server got %v", f.sizes)
	}
	send(pushURI, io.MultiReader(strings.NewReader(packets(update("refs/heads/off")+caps)), zeros(size)))
	f.answer = zeros(size)
	if n := send(fetchURI, strings.NewReader(packets("command=fetch"))); n != size {
		t.Errorf("%d bytes came", n)
	}
	if got := peak(); got > 24<<20 {
		t.Errorf("the heap grew by %d bytes", got)
	}
}

// FuzzServe gives a connection any bytes. Whatever they are, the server gets
// whole requests alone, whose pushes are of listed branches.
func FuzzServe(f *testing.F) {
	body := packets(update("refs/heads/main")+caps) + "PACK"
	f.Add([]byte("POST " + pushURI + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body))
	f.Add([]byte("POST " + fetchURI + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n19\r\n" + packets("command=fetch", "") + "\r\n0\r\n\r\n"))
	f.Add([]byte("GET /" + testRepo + ".git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: x\r\nGit-Protocol: version=2\r\n\r\n"))
	f.Add([]byte("GET /" + testRepo + "/info/refs?service=git-receive-pack HTTP/1.1\r\nHost: x\r\n\r\nGET /x HTTP/1.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		server := &fakeServer{}
		g, _ := fakeGate(server)
		g.silence = time.Second
		g.Serve(&tape{in: bytes.NewReader(in)})
		server.mu.Lock()
		defer server.mu.Unlock()
		for _, b := range server.bodies {
			if bytes.HasPrefix(b[4:], []byte("command=")) {
				continue
			}
			req, err := push.Read(bytes.NewReader(b))
			if err != nil {
				t.Fatalf("the server got %q: %v", b, err)
			}
			for _, c := range req.Commands {
				if c.Ref != "refs/heads/main" {
					t.Fatalf("the server got %+v", c)
				}
			}
		}
	})
}

// tape is a VM that says what it was given and takes every answer.
type tape struct {
	net.Conn
	in *bytes.Reader
}

func (c *tape) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c *tape) Write(p []byte) (int, error)      { return len(p), nil }
func (c *tape) Close() error                     { return nil }
func (c *tape) SetDeadline(time.Time) error      { return nil }
func (c *tape) SetReadDeadline(time.Time) error  { return nil }
func (c *tape) SetWriteDeadline(time.Time) error { return nil }
func (c *tape) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *tape) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
