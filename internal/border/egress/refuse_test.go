package egress

import (
	"fmt"
	"strings"
	"testing"

	"aibox/test/allow"
)

// TestRefusalNamesTheConfigLine checks the whole answer once, byte by byte.
func TestRefusalNamesTheConfigLine(t *testing.T) {
	w := newWorld("")
	p, rec := w.proxy(t)
	line := `aibox: example.com:443 is not allowed; to allow it add to "allow" in the project's config: - example.com`
	want := "HTTP/1.1 403 " + line + "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + fmt.Sprint(len(line)+1) +
		"\r\nX-Aibox-Answer: Forbidden\r\nConnection: close\r\n\r\n" + line + "\n"
	if got := ask(t, p, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	first, more := rec.Refused()
	if len(first) != 1 || more != 0 || first[0].Text != line || first[0].Target != "example.com:443" {
		t.Errorf("Refused = %v, %d", first, more)
	}
}

// TestPrivateAddresses asks for each way to name the host's networks. None may
// be dialed, and a name that is not allowed may not even be resolved.
func TestPrivateAddresses(t *testing.T) {
	for _, target := range []string{
		"localhost", "LOCALHOST", "localhost.", "x.localhost", "localhost.localdomain", "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "2130706433", "0x7f000001",
		"0x7f.0.0.1", "017700000001", "0177.0.0.1", "127.0.0.1.", "0", "0.0.0.0", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[::1%25lo]", "[::1%lo]", "[fe80::1]",
		"[fe80::1%25eth0]", "[fd00::1]", "[fec0::1]", "[2002:7f00:1::]", "[ff02::1]", "10.0.0.1", "10.1", "012.0.0.1", "167772161", "172.16.0.1",
		"192.168.1.1", "192.168.257", "169.254.169.254", "0xa9fea9fe", "2852039166", "100.64.0.1", "224.0.0.1", "255.255.255.255",
		"①②⑦.⓪.⓪.①", "127。0。0。1", "127.0.0.1%00", "loopback.web.example", "%6cocalhost", "localhost#", "user@localhost", "web.example@127.0.0.1",
	} {
		w := newWorld("")
		p, rec := w.proxy(t, "web.example:8080")
		for _, request := range []string{
			"CONNECT " + target + ":8080 HTTP/1.1\r\n\r\n",
			"GET http://" + target + ":8080/ HTTP/1.1\r\nHost: " + target + ":8080\r\n\r\n",
			"GET http://" + target + ":8080/ HTTP/1.0\r\n\r\n",
		} {
			got := ask(t, p, request)
			malformed := strings.ContainsAny(target, "①。#") // no URL at all
			if !strings.HasPrefix(got, "HTTP/1.1 403 aibox: ") && (!malformed || !strings.HasPrefix(got, "HTTP/1.1 400 ")) {
				t.Errorf("%q: %q", request, got)
			}
		}
		if lookups, dials := w.asked(); len(lookups)+len(dials) > 0 {
			t.Errorf("%s: looked up %v, dialed %v", target, lookups, dials)
		}
		if len(rec.Reached()) > 0 {
			t.Errorf("%s: reached", target)
		}
	}
}

// TestNamesThatResolveToPrivateAddresses has an allowed name answer with the host's networks.
func TestNamesThatResolveToPrivateAddresses(t *testing.T) {
	for _, answer := range []string{
		"127.0.0.1", "127.9.9.9", "10.0.0.1", "172.31.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
		"::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe",
		"64:ff9b:1::808:808", "fe80::1", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "2002:7f00:1::", "2001:0:7f00:1::", "::7f00:1", "198.18.0.1",
		"8.8.8.8 127.0.0.1", "127.0.0.1 8.8.8.8", "2606:4700::1 8.8.8.8 ::ffff:10.0.0.1", "9.9.9.9", "::ffff:9.9.9.9",
	} {
		w := newWorld("")
		w.answers["web.example"] = []string{answer}
		p, _ := w.proxy(t, "web.example", "web.example:80")
		p.router.OwnAddrs = append(p.router.OwnAddrs, allow.List(t, "9.9.9.9:1")[0].Addr)
		for _, request := range []string{
			"CONNECT web.example:443 HTTP/1.1\r\n\r\n",
			"GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n",
		} {
			if got := ask(t, p, request); !strings.HasPrefix(got, "HTTP/1.1 403 aibox: web.example:") || !strings.Contains(got, " resolves to ") {
				t.Errorf("%s: %q", answer, got)
			}
		}
		if _, dials := w.asked(); len(dials) > 0 {
			t.Errorf("%s: dialed %v", answer, dials)
		}
	}
}

// TestAnswersThatChange has a name turn to the loopback after its first, public, answer.
func TestAnswersThatChange(t *testing.T) {
	w := newWorld(echoHead(t))
	w.answers["web.example"] = []string{"8.8.8.8", "127.0.0.1"}
	p, _ := w.proxy(t, "web.example:80")
	request := "GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n"
	got := ask(t, p, request+request)
	if !strings.HasPrefix(got, "HTTP/1.1 200 ") || strings.Count(got, "HTTP/1.1 403 aibox: web.example:80 resolves to 127.0.0.1") != 1 {
		t.Errorf("got %q", got)
	}
	lookups, dials := w.asked()
	if len(lookups) != 2 || len(dials) != 1 || dials[0] != "8.8.8.8:80" {
		t.Errorf("looked up %v, dialed %v: each request once", lookups, dials)
	}
}

func TestListedAddresses(t *testing.T) {
	echo := echoHead(t)
	w := newWorld(echo)
	for addr := range strings.FieldsSeq("127.0.0.1:8080 [::1]:9090 10.0.0.5:80") {
		w.hosts[addr] = echo
	}
	w.answers["web.example"] = []string{"10.0.0.5"}
	p, rec := w.proxy(t, "127.0.0.1:8080", "[::1]:9090", "10.0.0.5:80", "web.example:80")
	for _, c := range []struct{ target, dialed string }{
		{"localhost:8080", "127.0.0.1:8080"}, {"[::1]:8080", "127.0.0.1:8080"}, {"localhost:9090", "[::1]:9090"}, {"127.0.0.1:9090", "[::1]:9090"},
		{"10.0.0.5:80", "10.0.0.5:80"}, {"web.example:80", "10.0.0.5:80"},
	} {
		got := ask(t, p, "CONNECT "+c.target+" HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK") {
			t.Errorf("%s: %q", c.target, got)
		}
		if _, dials := w.asked(); dials[len(dials)-1] != c.dialed {
			t.Errorf("%s: dialed %v, want %s", c.target, dials, c.dialed)
		}
	}
	if len(rec.Reached()) != 6 {
		t.Errorf("Reached = %v", rec.Reached())
	}
}

func TestFailures(t *testing.T) {
	w := newWorld("")
	w.answers["many.example"] = []string{"8.8.4.4 2606:4700::1 1.1.1.1"}
	w.answers["hang.example"] = []string{"8.8.8.8"}
	w.answers["empty.example"] = []string{""}
	p, rec := w.proxy(t, "web.example", "many.example", "none.example", "empty.example")
	for target, want := range map[string]string{
		"web.example":   "HTTP/1.1 502 aibox: cannot connect to web.example:443\r\n",
		"many.example":  "HTTP/1.1 502 aibox: cannot connect to many.example:443\r\n",
		"none.example":  "HTTP/1.1 502 aibox: cannot resolve none.example: no such host\r\n",
		"empty.example": "HTTP/1.1 502 aibox: cannot resolve empty.example: no such host\r\n",
	} {
		got := ask(t, p, "CONNECT "+target+":443 HTTP/1.1\r\n\r\n")
		if !strings.HasPrefix(got, want) || strings.Contains(got, "192.") {
			t.Errorf("%s: %q, want %q and nothing of the host's networks", target, got, want)
		}
	}
	if _, dials := w.asked(); len(dials) != 4 {
		t.Errorf("dialed %v, want each address once", dials)
	}
	if len(rec.Failed()) != 4 || len(rec.Reached()) != 0 {
		t.Errorf("Failed = %v", rec.Failed())
	}
}
