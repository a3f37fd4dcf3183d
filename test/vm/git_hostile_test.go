//go:build vm

package vm

import (
	"strings"
	"testing"
)

// hostileGit sends what no git sends, prints the name, the status and the
// answer's beginning for each, and then a push off the list with a pack that
// is long, and one that never ends.
const hostileGit = `
import http.client, socket
ID, NEW = "1" * 40, "2" * 40
CAPS = "\0 report-status side-band-64k"
def pkt(*lines): return b"".join(b"%04x" % (len(l) + 4) + l.encode("latin1") for l in lines)
def up(ref): return f"{ID} {NEW} {ref}"
main = pkt(up("refs/heads/main") + CAPS)
def send(name, service, body):
    c = http.client.HTTPConnection("127.0.0.1", 3130, timeout=60)
    try:
        c.request("POST", f"/git.example.test/me/app/git-{service}-pack", body)
        r = c.getresponse()
        print(name, r.status, r.read()[:300].decode("latin1").replace("\n", " ").replace("\0", " "), sep="|")
    except (OSError, http.client.HTTPException) as e:
        print(name, "closed", type(e).__name__, sep="|")
    c.close()
send("cut", "receive", main[:40])
send("no flush", "receive", main)
send("oversized", "receive", b"ffff" + b"x" * 70000)
send("delimiter", "receive", b"0001")
send("response end", "receive", b"0002")
send("no length", "receive", b"zzzz")
send("late capabilities", "receive", main + pkt(up("refs/heads/x") + CAPS) + b"0000")
send("two lists", "receive", pkt(up("refs/heads/ma\0in") + CAPS) + b"0000")
send("many", "receive", main + pkt(*[up(f"refs/heads/x{i}") for i in range(1000)]) + b"0000PACK")
send("dots", "receive", pkt(up("refs/heads/../main") + CAPS) + b"0000PACK")
send("below", "receive", pkt(up("refs/heads/x/y") + CAPS) + b"0000PACK")
send("options", "receive", pkt(up("refs/heads/main") + CAPS + " push-options") + b"0000" + pkt("x") + b"0000PACK")
send("signed", "receive", pkt("push-cert" + CAPS, "certificate version 0.1\n", up("refs/heads/main"), "push-cert-end\n") + b"0000PACK")
send("shallow", "receive", pkt("shallow " + ID) + main + b"0000PACK")
send("behind the probe", "receive", b"0000PACK")
send("cut fetch", "upload", pkt("command=fetch")[:10])
send("other command", "upload", pkt("command=push") + b"0000")
send("two commands", "upload", (pkt("command=fetch") + b"0000") * 2)
send("version 0", "upload", pkt("want " + ID + "\n") + b"0000")
def pack(size):
    yield pkt(up("refs/heads/off") + CAPS) + b"0000PACK"
    for i in range(size >> 20): yield b"\0" * (1 << 20)
send("long", "receive", pack(256 << 20))
s = socket.create_connection(("127.0.0.1", 3130))
s.sendall(b"POST /git.example.test/me/app/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + main)
s.shutdown(socket.SHUT_WR)
print("half", s.recv(1000)[:12].decode(), sep="|")
`

// TestGitHostileRequests has programs of the VM talk to the broker themselves.
func TestGitHostileRequests(t *testing.T) {
	if !inNetwork(t, gitHost) {
		return
	}
	w := newGitWorld(t)
	w.serveHTTPS(nil, map[string]string{gitHost: w.password})
	w.config("git:\n  - {remote: git.example.test/me/app, fetch: true, push: [main, x, \"claude/*\"]}\n")
	before := w.refs()
	s := w.shell()
	w.writeProject("hostile.py", hostileGit)
	out := s.must("python3 hostile.py")
	got := map[string]string{}
	for line := range strings.Lines(out) {
		name, answer, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		got[name] += answer
	}
	for name, want := range map[string]string{
		"cut": "400|", "no flush": "400|", "oversized": "400|", "delimiter": "400|", "response end": "400|", "no length": "400|",
		"cut fetch": "ends too early", "late capabilities": "400|", "two lists": "400|", "many": "more than 256 refs", "dots": "not a valid name", "below": "branch not listed",
		"options": "push options are not passed on", "signed": "signed push is not", "shallow": "a push from a shallow clone is not passed on",
		"behind the probe": "400|", "other command": "no known command", "two commands": "something follows", "version 0": "no known command",
		"long": "branch not listed", "half": "HTTP/1.1 400",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if seen := w.site.Seen(); len(seen) != 0 {
		t.Errorf("the server was asked %q", seen)
	}
	if after := w.refs(); after != before {
		t.Errorf("refs moved from\n%s\nto\n%s", before, after)
	}
	if peak := peakMemory(t, s.cmd.Process.Pid); peak > 100<<20 {
		t.Errorf("aibox took %d MiB at its peak, want at most 100", peak>>20)
	}
	s.must("git ls-remote https://git.example.test/me/app") // all is well after this
	w.searchVM(s, w.password, basicAuth(w.password))
}
