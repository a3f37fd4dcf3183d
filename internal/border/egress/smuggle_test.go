package egress

import (
	"io"
	"strings"
	"testing"
)

// TestAmbiguousRequests sends what two programs could understand in two ways;
// each is refused and reaches no server.
func TestAmbiguousRequests(t *testing.T) {
	w := newWorld("")
	p, _ := w.proxy(t, "web.example", "web.example:80")
	second := "GET http://web.example/second HTTP/1.1\r\nHost: web.example\r\n\r\n"
	get := "GET http://web.example/ HTTP/1.1\r\n"
	for name, request := range map[string]string{
		"CONNECT with a length":        "CONNECT web.example:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
		"CONNECT in chunks":            "CONNECT web.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"CONNECT and another Host":     "CONNECT web.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n",
		"CONNECT and another port":     "CONNECT web.example:443 HTTP/1.1\r\nHost: web.example:80\r\n\r\n",
		"CONNECT and a broken Host":    "CONNECT web.example:443 HTTP/1.1\r\nHost: web.example,x\r\n\r\n",
		"two Hosts":                    get + "Host: web.example\r\nHost: other.example\r\n\r\n",
		"another Host":                 get + "Host: other.example\r\n\r\n",
		"empty Host":                   get + "Host:\r\n\r\n",
		"no Host":                      get + "\r\n",
		"Host of another port":         get + "Host: web.example:81\r\n\r\n",
		"Host in a folded line":        get + "Host:\r\n web.example\r\n\r\n",
		"length and chunks":            "POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + second,
		"chunks with a space":          "POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + second,
		"chunks with a vertical tab":   "POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nTransfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n" + second,
		"origin form":                  "GET / HTTP/1.1\r\nHost: web.example\r\n\r\n",
		"asterisk form":                "OPTIONS * HTTP/1.1\r\nHost: web.example\r\n\r\n",
		"https in absolute form":       "GET https://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n",
		"other scheme":                 "GET ftp://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n",
		"fragment":                     "GET http://web.example/#x HTTP/1.1\r\nHost: web.example\r\n\r\n",
		"backslash after the host":     "GET http://web.example\\@other.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n",
		"HTTP/2 preface":               "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"control character in a value": get + "Host: web.example\r\nX: a\x01b\r\n\r\n",
	} {
		got := ask(t, p, request)
		if !strings.HasPrefix(got, "HTTP/1.1 400 aibox: the request ") || strings.Count(got, "HTTP/1.1") != 1+strings.Count(got, "than HTTP/1.1") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if lookups, dials := w.asked(); len(lookups)+len(dials) > 0 {
		t.Errorf("looked up %v, dialed %v", lookups, dials)
	}
}

// TestRefusedConnectHidesNoRequest sends a request behind a CONNECT that is refused.
func TestRefusedConnectHidesNoRequest(t *testing.T) {
	w := newWorld(echoHead(t))
	p, _ := w.proxy(t, "web.example:80")
	got := ask(t, p, "CONNECT other.example:443 HTTP/1.1\r\n\r\nGET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n")
	if _, dials := w.asked(); strings.Count(got, "HTTP/1.1 ") != 1 || len(dials) != 0 {
		t.Errorf("dialed %v, got %q", dials, got)
	}
}

func TestForwardedHead(t *testing.T) {
	w := newWorld(echoHead(t))
	p, _ := w.proxy(t, "web.example:80", "web.example")
	for _, c := range []struct{ name, request, want string }{
		{"headers of the connection are dropped",
			"GET http://WEB.example?q=%2e%2E//a\\b HTTP/1.1\r\nHost: web.example:80\r\nProxy-Authorization: secret\r\nProxy-Connection: keep-alive\r\n" +
				"Connection: x-hop, close\r\nX-Hop: 1\r\nKeep-Alive: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nX-Kept: a\r\nX-Kept: b\r\n\r\n",
			"GET /?q=%2e%2E//a\\b HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\nX-Kept: a\r\nX-Kept: b\r\n\r\n"},
		{"a body by length",
			"POST http://web.example:443/a//b HTTP/1.1\r\nHost: web.example:443\r\nConnection: content-length, close\r\nContent-Length: 5\r\n\r\nhello",
			"POST /a//b HTTP/1.1\r\nHost: web.example:443\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"},
		{"an empty body",
			"POST http://web.example/ HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"},
		{"chunks are written anew, extensions and trailers dropped",
			"PUT http://web.example/ HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nHost: evil\r\n\r\n",
			"PUT / HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nhello"},
	} {
		got := ask(t, p, c.request)
		head, body, _ := strings.Cut(got, "\r\n\r\n")
		if !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") || strings.Contains(head, "X-Hop") || strings.Contains(head, "Keep-Alive") || body != c.want {
			t.Errorf("%s: head %q, server saw\n%q, want\n%q", c.name, head, body, c.want)
		}
	}
}

// TestKeepAliveDecidesEachRequest uses one connection for allowed and refused hosts.
func TestKeepAliveDecidesEachRequest(t *testing.T) {
	w := newWorld(echoHead(t))
	p, _ := w.proxy(t, "web.example:80")
	get := "GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n"
	post := "POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
	got := ask(t, p, get+post+get+"GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"+get)
	if ok, no := strings.Count(got, "HTTP/1.1 200 OK"), strings.Count(got, "HTTP/1.1 403 "); ok != 3 || no != 1 {
		t.Errorf("%d answers and %d refusals: %q", ok, no, got)
	}
}

func TestBrokenBodies(t *testing.T) {
	for name, body := range map[string]string{
		"ends early":         "Content-Length: 999\r\n\r\nhello",
		"bad chunk size":     "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
		"chunk with LF":      "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n",
		"chunk too short":    "Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
		"chunks end early":   "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"trailer is endless": "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 20) + "\r\n",
	} {
		w := newWorld(echoHead(t))
		p, _ := w.proxy(t, "web.example:80")
		conn := dialProxy(t, p)
		_, _ = io.WriteString(conn, "POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\n"+body+"GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n")
		_ = conn.CloseWrite()
		got, _ := io.ReadAll(conn)
		if strings.Count(string(got), "HTTP/1.1 200 OK") > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
