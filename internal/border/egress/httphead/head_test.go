package httphead

import (
	"bufio"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func parseHead(s string) (Head, string, error) {
	r := bufio.NewReaderSize(strings.NewReader(s), MaxLine)
	h, err := Read(r)
	rest := make([]byte, r.Buffered())
	_, _ = r.Read(rest)
	return h, string(rest), err
}

func TestRead(t *testing.T) {
	h, rest, err := parseHead("POST http://a.example/x HTTP/1.1\r\nhost: a.example\r\nX-A:\t1 \r\nx-a: 2\r\nX-Empty:\r\nContent-Length: 5\r\n\r\nhello")
	want := Head{Method: "POST", URI: "http://a.example/x", Length: 5, Header: map[string][]string{
		"Host": {"a.example"}, "X-A": {"1", "2"}, "X-Empty": {""}, "Content-Length": {"5"}}}
	if err != nil || !reflect.DeepEqual(h, want) || rest != "hello" {
		t.Errorf("Read = %+v, rest %q, %v", h, rest, err)
	}
	h, _, err = parseHead("POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n")
	if err != nil || h.Length != Chunked {
		t.Errorf("chunked: %+v, %v", h, err)
	}
}

func TestReadRefuses(t *testing.T) {
	start := "GET http://a.example/ HTTP/1.1\r\n"
	for _, c := range []struct{ name, in, want string }{
		{"bare LF in request line", "GET / HTTP/1.1\n\r\n", "CRLF"},
		{"bare LF in header", start + "A: b\n\r\n", "CRLF"},
		{"bare LF at end", start + "A: b\r\n\n", "CRLF"},
		{"bare CR", start + "A: b\rC: d\r\n\r\n", "control"},
		{"NUL", start + "A: b\x00\r\n\r\n", "control"},
		{"folded line", start + "A: b\r\n c\r\n\r\n", "malformed header"},
		{"folded first line", start + " A: b\r\n\r\n", "malformed header"},
		{"space before colon", start + "Content-Length : 5\r\n\r\n", "malformed header"},
		{"no colon", start + "abc\r\n\r\n", "malformed header"},
		{"empty name", start + ": x\r\n\r\n", "malformed header"},
		{"name outside ASCII", start + "Contént: x\r\n\r\n", "malformed header"},
		{"two Hosts", start + "Host: a\r\nHost: a\r\n\r\n", "repeats its Host"},
		{"two lengths", start + "Content-Length: 5\r\ncontent-length: 5\r\n\r\n", "repeats its Content-Length"},
		{"two codings", start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "repeats its Transfer-Encoding"},
		{"length and coding", start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "both"},
		{"length list", start + "Content-Length: 5, 5\r\n\r\n", "malformed Content-Length"},
		{"length +5", start + "Content-Length: +5\r\n\r\n", "malformed Content-Length"},
		{"length -5", start + "Content-Length: -5\r\n\r\n", "malformed Content-Length"},
		{"length 0x5", start + "Content-Length: 0x5\r\n\r\n", "malformed Content-Length"},
		{"length 5_0", start + "Content-Length: 5_0\r\n\r\n", "malformed Content-Length"},
		{"length empty", start + "Content-Length:\r\n\r\n", "malformed Content-Length"},
		{"length overflow", start + "Content-Length: 18446744073709551617\r\n\r\n", "malformed Content-Length"},
		{"coding gzip, chunked", start + "Transfer-Encoding: gzip, chunked\r\n\r\n", "other than chunked"},
		{"coding xchunked", start + "Transfer-Encoding: xchunked\r\n\r\n", "other than chunked"},
		{"coding empty", start + "Transfer-Encoding:\r\n\r\n", "other than chunked"},
		{"coding in 1.0", "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "other than chunked"},
		{"expect", start + "Expect: everything\r\n\r\n", "100-continue"},
		{"version 2", "GET / HTTP/2.0\r\n\r\n", "version"},
		{"version 1.2", "GET / HTTP/1.2\r\n\r\n", "version"},
		{"no version", "GET /\r\n\r\n", "three parts"},
		{"two spaces", "GET  / HTTP/1.1\r\n\r\n", "three parts"},
		{"tab", "GET\t/ HTTP/1.1\r\n\r\n", "three parts"},
		{"leading empty line", "\r\nGET / HTTP/1.1\r\n\r\n", "three parts"},
		{"method", "G(T / HTTP/1.1\r\n\r\n", "malformed method"},
		{"long method", strings.Repeat("G", 33) + " / HTTP/1.1\r\n\r\n", "malformed method"},
		{"target outside ASCII", "GET /\xff HTTP/1.1\r\n\r\n", "malformed target"},
		{"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\n", "control"},
		{"long line", "GET /" + strings.Repeat("a", MaxLine) + " HTTP/1.1\r\n\r\n", "too long a line"},
		{"many fields", start + strings.Repeat("A: b\r\n", maxFields+1) + "\r\n", "too large"},
		{"large header", start + strings.Repeat("A: "+strings.Repeat("b", MaxLine-100)+"\r\n", 5) + "\r\n", "too large"},
	} {
		h, _, err := parseHead(c.in)
		var bad Error
		if !errors.As(err, &bad) || !strings.Contains(string(bad), c.want) || !reflect.DeepEqual(h, Head{}) {
			t.Errorf("%s: %+v, %v, want %q", c.name, h, err, c.want)
		}
	}
}

// FuzzRead holds that a head that was read and written again is the same
// head, and that nothing is read past it.
func FuzzRead(f *testing.F) {
	f.Add("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
	f.Add("CONNECT a.example:443 HTTP/1.0\r\n\r\nearly")
	f.Add("POST http://a/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n")
	f.Add("POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nA: b\n c\r\n\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		h, rest, err := parseHead(s)
		if err != nil {
			if !reflect.DeepEqual(h, Head{}) {
				t.Errorf("value beside an error: %+v", h)
			}
			return
		}
		if !strings.HasSuffix(s, rest) || len(rest) < len(s)-strings.Index(s, "\r\n\r\n")-4 && len(s) < MaxLine {
			t.Errorf("read past the head of %q: rest %q", s, rest)
		}
		var b strings.Builder
		version := "1.1"
		if h.HTTP10 {
			version = "1.0"
		}
		fmt.Fprintf(&b, "%s %s HTTP/%s\r\n", h.Method, h.URI, version)
		for name, values := range h.Header {
			for _, v := range values {
				fmt.Fprintf(&b, "%s: %s\r\n", name, v)
			}
		}
		again, _, err := parseHead(b.String() + "\r\n")
		if err != nil || !reflect.DeepEqual(h, again) {
			t.Errorf("%+v, and again %+v, %v", h, again, err)
		}
	})
}
