package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"

	"aibox/internal/border/egress/httphead"
	"aibox/internal/border/egress/route"
	"aibox/internal/hosts"
)

// forward serves a request in absolute form: each is decided and resolved anew.
// An error has not been answered yet. It tells whether another request may
// follow.
func (s *session) forward(h httphead.Head) (again bool, err error) {
	t, path, err := s.absolute(h)
	if err != nil {
		return false, err
	}
	up, err := s.upstream(h, t)
	if err != nil {
		return false, err
	}
	again, err = s.exchange(up, h, path)
	if !errors.Is(err, errStale) {
		return again, err
	}
	if up, err = s.newUpstream(t, up.addrs); err != nil {
		return false, err
	}
	return s.exchange(up, h, path)
}

// exchange sends a request over up and passes the response on. Then it keeps up
// for the next request, or closes it.
func (s *session) exchange(up *upstream, h httphead.Head, path string) (again bool, err error) {
	keep := false
	defer func() {
		if keep {
			up.used, s.kept = true, up
		} else {
			_ = up.Close()
		}
	}()
	if h.Header["Expect"] != nil && !h.HTTP10 && s.write("HTTP/1.1 100 Continue\r\n\r\n") != nil {
		return false, nil
	}
	if _, err := io.WriteString(up, outgoing(h, up.target, path)); err != nil {
		if up.used {
			err = errStale
		}
		return false, err
	}
	u := s.startUpload(h, up)
	resp, err := up.readResponse(h)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		return false, s.upgrade(h, u, resp, up.r)
	}
	if err == nil {
		again = s.respond(h, resp, up.r, u.ended.Load())
		keep = again && up.clean(h, resp)
	}
	if !keep {
		_ = up.Close()
	}
	u.stop()
	switch {
	case err != nil && u.cause != nil:
		err = httphead.Error("has a body that is malformed or incomplete")
	case err == nil && !u.ended.Load():
		s.linger()
	}
	return again, err
}

// absolute splits a target in absolute form into host and path.
func (s *session) absolute(h httphead.Head) (t hosts.Target, path string, err error) {
	const scheme = "http://"
	if len(h.URI) < len(scheme) || !strings.EqualFold(h.URI[:len(scheme)], scheme) {
		return t, "", httphead.Error("has no target of the form http://host/path; use CONNECT for TLS")
	}
	authority, path := h.URI[len(scheme):], ""
	if i := strings.IndexAny(authority, `/?#\`); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if strings.Contains(path, "#") || strings.HasPrefix(path, `\`) {
		return t, "", httphead.Error("has a malformed target")
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	t, err = s.target(h, authority, 80)
	return t, path, err
}

// outgoing is the head for the server: written from what was understood,
// without what concerns the client's connection only.
func outgoing(h httphead.Head, t hosts.Target, path string) string {
	header := h.Header.Clone()
	upgrade := httphead.Upgrades(header)
	httphead.DropHop(header)
	for _, name := range []string{"Host", "Content-Length", "Expect"} {
		header.Del(name)
	}
	switch {
	case upgrade:
		header.Set("Connection", "Upgrade")
		header.Set("Upgrade", "websocket")
	case !repeatable(h):
		header.Set("Connection", "close")
	}
	if h.Length == httphead.Chunked {
		header.Set("Transfer-Encoding", "chunked")
	} else if h.Header["Content-Length"] != nil {
		header.Set("Content-Length", fmt.Sprint(h.Length))
	}
	var b strings.Builder
	host := t.String()
	if t.Port == 80 {
		host = strings.TrimSuffix(host, ":80")
	}
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", h.Method, path, host)
	_ = header.Write(&b) // a Builder never fails
	b.WriteString("\r\n")
	return b.String()
}

// upgrade passes a 101 on and then the bytes of both sides.
func (s *session) upgrade(h httphead.Head, u *upload, resp *http.Response, r *bufio.Reader) error {
	asked := httphead.Upgrades(h.Header) && httphead.Upgrades(resp.Header)
	if !asked || !u.ended.Load() {
		_ = u.up.Close()
	}
	if u.stop(); !asked || !u.ended.Load() {
		return &route.Failure{Status: http.StatusBadGateway, Text: "aibox: the server changed the protocol and was not asked to"}
	}
	httphead.DropHop(resp.Header)
	resp.Header.Set("Connection", "Upgrade")
	resp.Header.Set("Upgrade", "websocket")
	w := bufio.NewWriter(s.conn)
	if writeHead(w, resp); w.Flush() == nil {
		s.splice(s.conn, s.r, u.up, r)
	}
	return nil
}

// respond passes a response on, which comes from r, flushing after each piece,
// and tells whether the connection can carry another request.
func (s *session) respond(h httphead.Head, resp *http.Response, r *bufio.Reader, bodySent bool) bool {
	again := bodySent && !h.HTTP10 && !httphead.Lists(h.Header, "Connection", "close")
	httphead.DropHop(resp.Header)
	none := h.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	if !none || resp.StatusCode == http.StatusNoContent {
		resp.Header.Del("Content-Length")
	}
	inChunks := !none && resp.ContentLength < 0 && !h.HTTP10
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
	writeHead(w, resp)
	// Of a body that has a length, some may be here already: then the head leaves with it.
	if none || inChunks || r.Buffered() == 0 {
		if w.Flush() != nil || none {
			return again
		}
	}
	if !inChunks {
		err := s.copy(w, resp.Body, w.Flush)
		return w.Flush() == nil && err == nil && again // an empty body left the head
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

func writeHead(w *bufio.Writer, resp *http.Response) {
	reason := strings.TrimPrefix(resp.Status, fmt.Sprint(resp.StatusCode, " "))
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %03d %s\r\n", resp.StatusCode, reason)
	_ = resp.Header.Write(w)
	_, _ = w.WriteString("\r\n")
}
