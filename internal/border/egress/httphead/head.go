package httphead

import (
	"bufio"
	"errors"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// Chunked is the length of a body in chunks.
const Chunked = -1

// Head is a request's head after all checks that need no list.
type Head struct {
	Method string
	URI    string // as sent
	HTTP10 bool
	Header http.Header
	Length int64 // of the body, or Chunked
}

// Error is the reason why a head is refused, as the end of a sentence that
// begins with "the request". It never quotes the head.
type Error string

func (e Error) Error() string { return string(e) }

// Read reads one head and not one byte more. It refuses whatever two
// programs could read in two ways: a bare LF or CR, folded lines, space before a
// colon, repeated framing headers, Content-Length beside Transfer-Encoding.
// Errors are an Error or the reader's own. r's buffer holds
// MaxLine bytes.
func Read(r *bufio.Reader) (Head, error) {
	line, err := readLine(r)
	if err != nil {
		return Head{}, err
	}
	h, err := requestLine(line)
	if err != nil {
		return Head{}, err
	}
	h.Header = http.Header{}
	for total, n := len(line), 0; ; n++ {
		line, err := readLine(r)
		if err != nil {
			return Head{}, err
		}
		if line == "" {
			break
		}
		if total += len(line); total > maxHead || n == maxFields {
			return Head{}, Error("has too large a header")
		}
		if err := h.add(line); err != nil {
			return Head{}, err
		}
	}
	if err := h.framing(); err != nil {
		return Head{}, err
	}
	return h, nil
}

// readLine reads up to CRLF and returns the line without it.
func readLine(r *bufio.Reader) (string, error) {
	b, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", Error("has too long a line")
	}
	if err != nil {
		return "", err
	}
	line, ok := strings.CutSuffix(string(b), "\r\n")
	if !ok || strings.ContainsFunc(line, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", Error("has a control character or a line without CRLF")
	}
	return line, nil
}

func requestLine(line string) (Head, error) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return Head{}, Error("has no request line of three parts")
	}
	h := Head{Method: parts[0], URI: parts[1], HTTP10: parts[2] == "HTTP/1.0"}
	switch {
	case !h.HTTP10 && parts[2] != "HTTP/1.1":
		return Head{}, Error("has a version other than HTTP/1.1 and HTTP/1.0")
	case !isToken(h.Method) || len(h.Method) > maxMethod:
		return Head{}, Error("has a malformed method")
	case h.URI == "" || strings.ContainsFunc(h.URI, func(c rune) bool { return c <= ' ' || c >= 0x7f }):
		return Head{}, Error("has a malformed target")
	}
	return h, nil
}

// add takes one header line.
func (h *Head) add(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return Error("has a malformed header line")
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch name {
	case "Host", "Content-Length", "Transfer-Encoding", "Expect", "Upgrade":
		if h.Header[name] != nil {
			return Error("repeats its " + name + " header")
		}
	}
	h.Header[name] = append(h.Header[name], strings.Trim(value, " \t"))
	return nil
}

// framing decides where the body ends, and checks Expect.
func (h *Head) framing() error {
	length, hasLength := h.Header["Content-Length"]
	coding, hasCoding := h.Header["Transfer-Encoding"]
	if expect, ok := h.Header["Expect"]; ok && !strings.EqualFold(expect[0], "100-continue") {
		return Error("expects something other than 100-continue")
	}
	switch {
	case hasLength && hasCoding:
		return Error("has both Content-Length and Transfer-Encoding")
	case hasCoding && (h.HTTP10 || !strings.EqualFold(coding[0], "chunked")):
		return Error("has a Transfer-Encoding other than chunked")
	case hasCoding:
		h.Length = Chunked
	case hasLength:
		n, err := strconv.ParseUint(length[0], 10, 62)
		if err != nil {
			return Error("has a malformed Content-Length")
		}
		h.Length = int64(n)
	}
	return nil
}

// isToken is true for what HTTP allows as a method or header name.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
