package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"aibox/test/conns"
)

// talker is a server that answers each request with its number on its
// connection, in the way that answer says, and ends a connection after last ones.
func talker(t *testing.T, answer string, last int) string {
	return conns.Serve(t, func(c net.Conn) {
		defer func() { _ = c.Close() }()
		r := bufio.NewReader(c)
		for n := range last {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n"+answer, n)
		}
	})
}

// TestServerConnectionIsKept counts the connections to the server for three
// requests of one client.
func TestServerConnectionIsKept(t *testing.T) {
	const (
		get  = "GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n"
		post = "POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nContent-Length: 1\r\n\r\nx"
		long = "Content-Length: 1\r\n\r\n%d"
	)
	for name, c := range map[string]struct {
		requests, answer, want string
		last, dials            int
	}{
		"kept":                                 {get + get + get, long, "012", 9, 1},
		"in chunks":                            {get + get + get, "Transfer-Encoding: chunked\r\n\r\n1\r\n%d\r\n0\r\n\r\n", "012", 9, 1},
		"the server ends it":                   {get + get + get, long, "000", 1, 3},
		"the server ends it later":             {get + get + get, long, "010", 2, 2},
		"the server says close":                {get + get + get, "Connection: close\r\n" + long, "000", 9, 3},
		"the server says more":                 {get + get + get, long + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen", "000", 9, 3},
		"a request that may not be sent twice": {post + get + post, long, "000", 9, 3},
		"the name leads elsewhere":             {get + get + get, long, "000", 9, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(talker(t, c.answer, c.last))
			if name == "the name leads elsewhere" {
				w.answers["web.example"] = []string{"8.8.8.8", "8.8.4.4", "8.8.8.8"}
				w.hosts["8.8.4.4:80"] = w.hosts["8.8.8.8:80"]
			}
			p, _ := w.proxy(t, "web.example:80")
			r := bufio.NewReader(strings.NewReader(ask(t, p, c.requests)))
			got := ""
			for range 3 {
				resp, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatalf("after %q: %v", got, err)
				}
				body, _ := io.ReadAll(resp.Body)
				got += string(body)
			}
			lookups, dials := w.asked()
			if got != c.want || len(dials) != c.dials || len(lookups) != 3 {
				t.Errorf("got %q by %d connections after %d look-ups, want %q by %d after 3", got, len(dials), len(lookups), c.want, c.dials)
			}
		})
	}
}

// TestHeadComesWithoutABody has the head arrive with bytes behind it that never
// become a body: the head must come nevertheless.
func TestHeadComesWithoutABody(t *testing.T) {
	for name, answer := range map[string]string{
		"more than was announced": "Content-Length: 0\r\n\r\nmore%d",
		"half of a chunk's head":  "Transfer-Encoding: chunked\r\n\r\n1%d",
		"no chunk":                "Transfer-Encoding: chunked\r\n\r\nmore%d\r\n",
	} {
		p, _ := newWorld(talker(t, answer, 1)).proxy(t, "web.example:80")
		got := ask(t, p, "GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || strings.Contains(got, "more") || strings.HasSuffix(got, "0\r\n\r\n") && name != "more than was announced" {
			t.Errorf("%s: the client got %q", name, got)
		}
	}
}
