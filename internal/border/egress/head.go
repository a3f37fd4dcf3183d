package egress

import (
	"bufio"
	"errors"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// chunked is the length of a body in chunks.
const chunked = -1

// head is a request's head after all checks that need no list.
type head struct {
	method string
	uri    string // as sent
	http10 bool
	header http.Header
	length int64 // of the body, or chunked
}

// badHead is the reason why a head is refused; it never quotes the head.
type badHead string

func (e badHead) Error() string { return string(e) }

// readHead reads one head and not one byte more. It refuses whatever two
// programs could read in two ways: a bare LF or CR, folded lines, space before a
// colon, repeated framing headers, Content-Length beside Transfer-Encoding.
// Errors are a badHead or the reader's own. r's buffer holds maxLine bytes.
func readHead(r *bufio.Reader) (head, error) {
	line, err := readLine(r)
	if err != nil {
		return head{}, err
	}
	h, err := requestLine(line)
	if err != nil {
		return head{}, err
	}
	h.header = http.Header{}
	for total, n := len(line), 0; ; n++ {
		line, err := readLine(r)
		if err != nil {
			return head{}, err
		}
		if line == "" {
			break
		}
		if total += len(line); total > maxHead || n == maxFields {
			return head{}, badHead("has too large a header")
		}
		if err := h.add(line); err != nil {
			return head{}, err
		}
	}
	if err := h.framing(); err != nil {
		return head{}, err
	}
	return h, nil
}

// readLine reads up to CRLF and returns the line without it.
func readLine(r *bufio.Reader) (string, error) {
	b, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", badHead("has too long a line")
	}
	if err != nil {
		return "", err
	}
	line, ok := strings.CutSuffix(string(b), "\r\n")
	if !ok || strings.ContainsFunc(line, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", badHead("has a control character or a line without CRLF")
	}
	return line, nil
}

func requestLine(line string) (head, error) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return head{}, badHead("has no request line of three parts")
	}
	h := head{method: parts[0], uri: parts[1], http10: parts[2] == "HTTP/1.0"}
	switch {
	case !h.http10 && parts[2] != "HTTP/1.1":
		return head{}, badHead("has a version other than HTTP/1.1 and HTTP/1.0")
	case !isToken(h.method) || len(h.method) > maxMethod:
		return head{}, badHead("has a malformed method")
	case h.uri == "" || strings.ContainsFunc(h.uri, func(c rune) bool { return c <= ' ' || c >= 0x7f }):
		return head{}, badHead("has a malformed target")
	}
	return h, nil
}

// add takes one header line.
func (h *head) add(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return badHead("has a malformed header line")
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch name {
	case "Host", "Content-Length", "Transfer-Encoding", "Expect", "Upgrade":
		if h.header[name] != nil {
			return badHead("repeats its " + name + " header")
		}
	}
	h.header[name] = append(h.header[name], strings.Trim(value, " \t"))
	return nil
}

// framing decides where the body ends, and checks Expect.
func (h *head) framing() error {
	length, hasLength := h.header["Content-Length"]
	coding, hasCoding := h.header["Transfer-Encoding"]
	if expect, ok := h.header["Expect"]; ok && !strings.EqualFold(expect[0], "100-continue") {
		return badHead("expects something other than 100-continue")
	}
	switch {
	case hasLength && hasCoding:
		return badHead("has both Content-Length and Transfer-Encoding")
	case hasCoding && (h.http10 || !strings.EqualFold(coding[0], "chunked")):
		return badHead("has a Transfer-Encoding other than chunked")
	case hasCoding:
		h.length = chunked
	case hasLength:
		n, err := strconv.ParseUint(length[0], 10, 62)
		if err != nil {
			return badHead("has a malformed Content-Length")
		}
		h.length = int64(n)
	}
	return nil
}

// lists tells whether a comma-separated header contains the token.
func lists(header http.Header, name, token string) bool {
	for _, value := range header[name] {
		for part := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(part, " \t"), token) {
				return true
			}
		}
	}
	return false
}

// isToken is true for what HTTP allows as a method or header name.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
