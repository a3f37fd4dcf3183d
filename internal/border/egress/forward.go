package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"

	"aibox/internal/hosts"
)

// forward serves a request in absolute form on a connection to the server of
// its own: each request is decided and resolved anew. An error has not been
// answered yet. It tells whether another request may follow.
func (s *session) forward(h head) (again bool, err error) {
	t, path, err := s.absolute(h)
	if err != nil {
		return false, err
	}
	up, err := s.connect(context.Background(), t)
	if err != nil {
		return false, err
	}
	defer func() { _ = up.Close() }()
	if h.header["Expect"] != nil && !h.http10 && s.write("HTTP/1.1 100 Continue\r\n\r\n") != nil {
		return false, nil
	}
	if _, err := io.WriteString(up, outgoing(h, t, path)); err != nil {
		return false, err
	}
	u := s.startUpload(h, up)
	resp, r, err := readResponse(up, h)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		return false, s.upgrade(h, u, resp, r)
	}
	if err == nil {
		again = s.respond(h, resp, u.ended.Load())
	}
	_ = up.Close()
	u.stop()
	switch {
	case err != nil && u.cause != nil:
		err = badHead("has a body that is malformed or incomplete")
	case err == nil && !u.ended.Load():
		s.linger()
	}
	return again, err
}

// absolute splits a target in absolute form into host and path.
func (s *session) absolute(h head) (t hosts.Target, path string, err error) {
	const scheme = "http://"
	if len(h.uri) < len(scheme) || !strings.EqualFold(h.uri[:len(scheme)], scheme) {
		return t, "", badHead("has no target of the form http://host/path; use CONNECT for TLS")
	}
	authority, path := h.uri[len(scheme):], ""
	if i := strings.IndexAny(authority, `/?#\`); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if strings.Contains(path, "#") || strings.HasPrefix(path, `\`) {
		return t, "", badHead("has a malformed target")
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	t, err = s.target(h, authority, 80)
	return t, path, err
}

// outgoing is the head for the server: written from what was understood,
// without what concerns the client's connection only.
func outgoing(h head, t hosts.Target, path string) string {
	header := h.header.Clone()
	upgrade := upgrades(header)
	dropHop(header)
	for _, name := range []string{"Host", "Content-Length", "Expect"} {
		header.Del(name)
	}
	header.Set("Connection", "close")
	if upgrade {
		header.Set("Connection", "Upgrade")
		header.Set("Upgrade", "websocket")
	}
	if h.length == chunked {
		header.Set("Transfer-Encoding", "chunked")
	} else if h.header["Content-Length"] != nil {
		header.Set("Content-Length", fmt.Sprint(h.length))
	}
	var b strings.Builder
	host := t.String()
	if t.Port == 80 {
		host = strings.TrimSuffix(host, ":80")
	}
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", h.method, path, host)
	_ = header.Write(&b) // a Builder never fails
	b.WriteString("\r\n")
	return b.String()
}

// dropHop removes the fields that concern one connection only.
func dropHop(header http.Header) {
	for _, value := range header["Connection"] {
		for name := range strings.SplitSeq(value, ",") {
			header.Del(strings.Trim(name, " \t"))
		}
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization",
		"Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		header.Del(name)
	}
}

// readResponse reads the head of the final response, or of a 101 that was
// asked for; r reads what follows it.
func readResponse(up net.Conn, h head) (resp *http.Response, r *bufio.Reader, err error) {
	limit := &io.LimitedReader{R: up, N: maxResponse}
	r = bufio.NewReaderSize(limit, bufferSize)
	for {
		resp, err = http.ReadResponse(r, &http.Request{Method: h.method})
		if err != nil {
			return nil, nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			limit.N = math.MaxInt64
			return resp, r, nil
		}
	}
}

// upgrades tells whether a head asks for, or grants, the one change of
// protocol that is passed on.
func upgrades(header http.Header) bool {
	return lists(header, "Connection", "upgrade") && strings.EqualFold(header.Get("Upgrade"), "websocket")
}

// upgrade passes a 101 on and then the bytes of both sides.
func (s *session) upgrade(h head, u *upload, resp *http.Response, r *bufio.Reader) error {
	asked := upgrades(h.header) && upgrades(resp.Header)
	if !asked || !u.ended.Load() {
		_ = u.up.Close()
	}
	if u.stop(); !asked || !u.ended.Load() {
		return &failure{http.StatusBadGateway, "aibox: the server changed the protocol and was not asked to"}
	}
	dropHop(resp.Header)
	resp.Header.Set("Connection", "Upgrade")
	resp.Header.Set("Upgrade", "websocket")
	if writeHead(bufio.NewWriter(s.conn), resp) == nil {
		s.splice(s.conn, s.r, u.up, r)
	}
	return nil
}

// respond passes a response on, flushing after each piece, and tells whether
// the connection can carry another request.
func (s *session) respond(h head, resp *http.Response, bodySent bool) bool {
	again := bodySent && !h.http10 && !lists(h.header, "Connection", "close")
	dropHop(resp.Header)
	none := h.method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	if !none || resp.StatusCode == http.StatusNoContent {
		resp.Header.Del("Content-Length")
	}
	inChunks := !none && resp.ContentLength < 0 && !h.http10
	switch {
	case inChunks:
		resp.Header.Set("Transfer-Encoding", "chunked")
	case !none && resp.ContentLength >= 0:
		resp.Header.Set("Content-Length", fmt.Sprint(resp.ContentLength))
	case !none:
		again = false
	}
	if !again {
		resp.Header.Set("Connection", "close")
	}
	w := bufio.NewWriterSize(s.conn, 4<<10)
	if writeHead(w, resp) != nil || none {
		return again
	}
	if !inChunks {
		return s.copy(w, resp.Body, w.Flush) == nil && again
	}
	chunks := httputil.NewChunkedWriter(w)
	if s.copy(chunks, resp.Body, w.Flush) != nil {
		return false // no last chunk, so the client sees that the end is missing
	}
	_ = chunks.Close()
	_ = resp.Trailer.Write(w)
	_, _ = w.WriteString("\r\n")
	return w.Flush() == nil && again
}

func writeHead(w *bufio.Writer, resp *http.Response) error {
	reason := strings.TrimPrefix(resp.Status, fmt.Sprint(resp.StatusCode, " "))
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %03d %s\r\n", resp.StatusCode, reason)
	_ = resp.Header.Write(w)
	_, _ = w.WriteString("\r\n")
	return w.Flush()
}
