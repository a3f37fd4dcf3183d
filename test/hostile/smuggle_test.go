//go:build hostile

package hostile

import (
	"strconv"
	"strings"
	"testing"
)

// hidden counts the requests for /smuggled that reached a server.
func (s *server) hidden() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.got {
		if strings.Contains(r.URL.Path, "smuggled") {
			n++
		}
	}
	return n
}

// smuggling hides a request, or the true target of one, from the proxy. LISTED
// and CANARY stand for the ports.
func (x *scene) smuggling(t *testing.T) {
	const second = "GET http://127.0.0.1:CANARY/smuggled HTTP/1.1\r\nHost: 127.0.0.1:CANARY\r\n\r\n"
	const inner = "GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	const to = "POST http://127.0.0.1:LISTED/ HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\n"
	for name, request := range sorted(map[string]string{
		"a request behind a refused CONNECT":           "CONNECT refused.example.org:443 HTTP/1.1\r\n\r\n" + second,
		"a CONNECT with a body":                        "CONNECT 127.0.0.1:LISTED HTTP/1.1\r\nContent-Length: 10\r\n\r\n0123456789" + second,
		"a CONNECT to a listed port with another Host": "CONNECT 127.0.0.1:LISTED HTTP/1.1\r\nHost: 127.0.0.1:CANARY\r\n\r\n" + inner,
		"two targets in a CONNECT":                     "CONNECT 127.0.0.1:LISTED 127.0.0.1:CANARY HTTP/1.1\r\n\r\n" + inner,
		"another Host than the target":                 "GET http://127.0.0.1:LISTED/smuggled HTTP/1.1\r\nHost: 127.0.0.1:CANARY\r\n\r\n",
		"two Hosts":                                    "GET http://127.0.0.1:LISTED/smuggled HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\nHost: 127.0.0.1:CANARY\r\n\r\n",
		"no Host":                                      "GET http://127.0.0.1:LISTED/smuggled HTTP/1.1\r\n\r\n",
		"a Host alone":                                 "GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1:CANARY\r\n\r\n",
		"length and chunks":                            to + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"two lengths":                                  to + "Content-Length: 5\r\nContent-Length: 0\r\n\r\n" + inner,
		"a list of lengths":                            to + "Content-Length: 0, 5\r\n\r\n" + inner,
		"a signed length":                              to + "Content-Length: +0\r\n\r\n" + inner,
		"a negative length":                            to + "Content-Length: -1\r\n\r\n" + inner,
		"chunks twice":                                 to + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
		"an unknown coding":                            to + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
		"chunks of HTTP/1.0":                           "POST http://127.0.0.1:LISTED/ HTTP/1.0\r\nHost: 127.0.0.1:LISTED\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"a blank before the colon":                     to + "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n" + inner,
		"a folded line":                                to + "X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + inner,
		"a bare line feed":                             to + "X: a\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + inner,
		"a bare return":                                to + "X: a\rTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + inner,
		"a NUL":                                        to + "X: a\x00b\r\nContent-Length: 0\r\n\r\n" + inner,
		"a chunk size over 64 bits":                    to + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n" + inner,
		"a chunk size with a sign":                     to + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + inner,
		"a chunk's extension with a line feed":         to + "Transfer-Encoding: chunked\r\n\r\n0;a\n\r\n" + inner,
		"credentials in the target":                    "GET http://127.0.0.1:LISTED@127.0.0.1:CANARY/smuggled HTTP/1.1\r\nHost: 127.0.0.1:CANARY\r\n\r\n",
		"a backslash in the target":                    "GET http://127.0.0.1:LISTED\\@127.0.0.1:CANARY/smuggled HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\n\r\n",
		"a fragment in the target":                     "GET http://127.0.0.1:CANARY#@127.0.0.1:LISTED/smuggled HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\n\r\n",
		"another scheme":                               "GET https://127.0.0.1:LISTED/smuggled HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\n\r\n",
		"a target with a blank":                        "GET http://127.0.0.1:LISTED/ smuggled HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\n\r\n",
		"a request of HTTP/0.9":                        "GET http://127.0.0.1:LISTED/smuggled\r\n\r\n",
		"a preface of HTTP/2":                          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + inner,
		"a method with a line feed":                    "GET\nhttp://127.0.0.1:LISTED/smuggled HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\n\r\n",
	}) {
		attack(t, "smuggling: "+name, "egress: strict heads", true, func(t *testing.T) {
			request = strings.ReplaceAll(request, "LISTED", strconv.Itoa(x.listed.port))
			request = strings.ReplaceAll(request, "CANARY", strconv.Itoa(x.canary.port))
			before := x.listed.hidden()
			x.unreached(t, func() string {
				// what a listed server answers is no success of an attack
				return strings.ReplaceAll(x.vm.raw(t, 3128, request), " 200 ", " ok ")
			})
			if n := x.listed.hidden() - before; n != 0 {
				t.Errorf("the hidden request reached the server")
			}
		})
	}
	attack(t, "smuggling: an upgrade to HTTP/2", "egress: strict heads", true, func(t *testing.T) {
		before := x.listed.count()
		x.vm.raw(t, 3128, strings.ReplaceAll("GET http://127.0.0.1:LISTED/ HTTP/1.1\r\nHost: 127.0.0.1:LISTED\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n", "LISTED", strconv.Itoa(x.listed.port)))
		if x.listed.count() > before && x.listed.last().Header.Get("Upgrade") != "" {
			t.Error("the server was asked to change the protocol")
		}
	})
}
