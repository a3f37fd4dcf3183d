package upstream

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"aibox/internal/border/gitgate/pktline"
	"aibox/internal/plain"
)

// NewTransport returns the connections to HTTPS servers, all repositories'
// together. It speaks HTTP/1.1, whose single stream is faster for packs.
func NewTransport(dial DialFunc, roots *x509.CertPool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTime,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxResponse,
		DisableCompression:     true,
		Protocols:              protocols,
		WriteBufferSize:        bufferSize,
		ReadBufferSize:         bufferSize,
	}
}

// HTTPS is a repository behind https://Host/Path.
type HTTPS struct {
	Host, Path     string
	User, Password string // empty for no login
	Why            string // why there is no login
	Transport      http.RoundTripper

	bare atomic.Bool // the server knows the path without ".git" alone
}

// Advertise tries the path with ".git" first, which most servers take, and then
// without.
func (h *HTTPS) Advertise(ctx context.Context, service Service) (io.ReadCloser, error) {
	for {
		bare := h.bare.Load()
		body, err := h.do(ctx, http.MethodGet, "/info/refs?service="+string(service), service, nil, 0)
		if missing := (*statusError)(nil); errors.As(err, &missing) && missing.status == http.StatusNotFound && !bare {
			h.bare.Store(true)
			continue
		}
		if err != nil {
			h.bare.Store(false)
			return nil, err
		}
		return skipService(body, service)
	}
}

// Exchange posts the request.
func (h *HTTPS) Exchange(ctx context.Context, service Service, body io.Reader, size int64) (io.ReadCloser, error) {
	return h.do(ctx, http.MethodPost, "/"+string(service), service, body, size)
}

func (h *HTTPS) do(ctx context.Context, method, tail string, service Service, body io.Reader, size int64) (io.ReadCloser, error) {
	suffix := ".git"
	if h.bare.Load() {
		suffix = ""
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://"+h.Host+"/"+h.Path+suffix+tail, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "git/2.45 (aibox)") // some servers look for git
	kind := "advertisement"
	if method == http.MethodPost {
		req.ContentLength = size
		req.Header.Set("Content-Type", "application/x-"+string(service)+"-request")
		kind = "result"
	}
	req.Header.Set("Accept", "application/x-"+string(service)+"-"+kind)
	if service == UploadPack {
		req.Header.Set("Git-Protocol", "version=2")
	}
	if h.Password != "" {
		req.SetBasicAuth(h.User, h.Password)
	}
	resp, err := h.Transport.RoundTrip(req)
	if err != nil {
		return nil, h.explain(Failed("cannot reach https://"+h.Host, err))
	}
	if err := h.check(resp, "application/x-"+string(service)+"-"+kind); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp.Body, nil
}

// explain adds to an error why no login was used, which may be the reason.
func (h *HTTPS) explain(err error) error {
	if h.Password != "" || h.Why == "" {
		return err
	}
	return fmt.Errorf("%w; without a login, since %s", err, h.Why)
}

// statusError is an answer that is no success.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func (h *HTTPS) check(resp *http.Response, want string) error {
	fail := func(format string, args ...any) error {
		return h.explain(&statusError{resp.StatusCode, "https://" + h.Host + " " + fmt.Sprintf(format, args...)})
	}
	switch status := resp.StatusCode; {
	case status == http.StatusOK:
		if got := resp.Header.Get("Content-Type"); got != want {
			return fail("answers with %s, which is not git's smart protocol", plain.LineMax(fmt.Sprintf("%q", got), maxText))
		}
		return nil
	case status == http.StatusUnauthorized && h.Password == "":
		return fail("asks for a login (HTTP 401)")
	case status == http.StatusUnauthorized, status == http.StatusForbidden && h.Password != "":
		return fail("refuses the login that git on the host has for it (HTTP %d)", status)
	case status == http.StatusNotFound:
		return fail("knows no repository %s, or hides it from this login (HTTP 404)", h.Path)
	case status >= 300 && status < 400:
		return fail("redirects to %s, which is not followed; write that address in the project's config", redirect(resp))
	default:
		return fail("answers with HTTP %d", status)
	}
}

// redirect is the place a response names, without what may be secret in it.
func redirect(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return "another address"
	}
	path, _, _ := strings.Cut(u.Path, "/info/refs")
	return plain.LineMax(u.Host+strings.TrimSuffix(path, ".git"), maxText)
}

// skipService drops the packets that name the service before an offer, which
// servers may leave out for protocol version 2.
func skipService(body io.ReadCloser, service Service) (io.ReadCloser, error) {
	r := bufio.NewReaderSize(body, bufferSize)
	pkt := pktline.NewReader(r)
	p, err := pkt.Next()
	if err != nil {
		_ = body.Close()
		return nil, Failed("read what the server offers", err)
	}
	if strings.TrimSuffix(string(p.Payload), "\n") != "# service="+string(service) {
		return joined{io.MultiReader(bytes.NewReader(p.Append(nil)), r), body}, nil
	}
	if p, err := pkt.Next(); err != nil || p.Kind != pktline.Flush {
		_ = body.Close()
		return nil, errors.New("the server's offer is malformed")
	}
	return joined{r, body}, nil
}

type joined struct {
	io.Reader
	io.Closer
}
