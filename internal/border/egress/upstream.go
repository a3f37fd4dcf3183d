package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"aibox/internal/border/egress/httphead"
	"aibox/internal/border/egress/route"
	"aibox/internal/hosts"
)

// upstream is a connection to a server for requests in absolute form.
type upstream struct {
	net.Conn
	target hosts.Target
	addrs  []netip.Addr // it leads to one of them
	limit  *io.LimitedReader
	r      *bufio.Reader // all reads, through limit
	used   bool          // carried a request before
}

// errStale is the error of a kept connection that its server had ended.
var errStale = errors.New("the server ended the connection that was kept")

// repeatable tells whether a request may go over a connection that was kept and, since
// its server may end that at any time, may be sent twice.
func repeatable(h httphead.Head) bool {
	return (h.Method == http.MethodGet || h.Method == http.MethodHead) && h.Length == 0 && !h.HTTP10 &&
		!httphead.Lists(h.Header, "Connection", "close") && !httphead.Upgrades(h.Header) && h.Header["Expect"] == nil
}

// upstream returns a connection for a request. Each request is decided and
// resolved anew; the connection that the last one left is taken again when all
// addresses that it may lead to are still allowed.
func (s *session) upstream(h httphead.Head, t hosts.Target) (*upstream, error) {
	kept := s.kept
	s.kept = nil
	addrs, err := s.router.Addresses(context.Background(), t)
	if kept != nil && err == nil && kept.target == t && repeatable(h) && !slices.ContainsFunc(kept.addrs, func(a netip.Addr) bool { return !slices.Contains(addrs, a) }) {
		s.record(t, nil)
		return kept, nil
	}
	if kept != nil {
		_ = kept.Close()
	}
	if err != nil {
		s.record(t, err)
		return nil, err
	}
	return s.newUpstream(t, addrs)
}

func (s *session) newUpstream(t hosts.Target, addrs []netip.Addr) (*upstream, error) {
	conn, err := s.router.ConnectTo(context.Background(), t, addrs)
	s.record(t, err)
	if err != nil {
		return nil, err
	}
	limit := &io.LimitedReader{R: conn}
	return &upstream{Conn: conn, target: t, addrs: addrs, limit: limit, r: bufio.NewReaderSize(limit, bufferSize)}, nil
}

// record records how a connection to t went.
func (p *Proxy) record(t hosts.Target, err error) {
	if refusal := (*route.Refusal)(nil); errors.As(err, &refusal) {
		p.config.Recorder.Refuse(*refusal)
	} else if err != nil {
		p.config.Recorder.Fail(t.String())
	} else {
		p.config.Recorder.Connect(t.String())
	}
}

// readResponse reads the head of the final response, or of a 101 that was
// asked for; up.r reads what follows it.
func (up *upstream) readResponse(h httphead.Head) (*http.Response, error) {
	up.limit.N = maxResponse
	for {
		resp, err := http.ReadResponse(up.r, &http.Request{Method: h.Method})
		if err != nil {
			if up.used && up.limit.N == maxResponse {
				err = errStale
			}
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			up.limit.N = math.MaxInt64
			return resp, nil
		}
	}
}

// clean tells whether nothing but the response to h came, and the server
// will take another request.
func (up *upstream) clean(h httphead.Head, resp *http.Response) bool {
	return repeatable(h) && !resp.Close && up.r.Buffered() == 0
}

// drop ends the connection that was kept.
func (s *session) drop() {
	if s.kept != nil {
		_ = s.kept.Close()
		s.kept = nil
	}
}
