package keygate

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"aibox/internal/plain"
)

// ServeHTTP passes one request on or refuses it.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, err := Path(r.Method, r.RequestURI)
	if err == nil && (r.Header["Upgrade"] != nil || r.ProtoMajor != 1) {
		err = errors.New("only plain requests of HTTP/1 are passed on")
	}
	if err != nil {
		g.config.Logger.Info("API request refused", "method", plain.LineMax(r.Method, 20), "target", plain.LineMax(r.RequestURI, 200), "reason", err.Error())
		refuse(w, http.StatusForbidden, "aibox: request refused: "+err.Error())
		return
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		refuse(w, http.StatusServiceUnavailable, "aibox: too many requests at a time")
		return
	}
	if g.config.Recorder != nil {
		g.config.Recorder.Connect(target)
	}
	r.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	g.proxy.ServeHTTP(final{w}, r)
	clear(w.Header()) // trailers, which modify never sees; the head is on its way
}

// rewrite makes the request for upstream.
func (g *Gate) rewrite(pr *httputil.ProxyRequest) {
	clean(pr.Out.Header)
	pr.Out.Trailer = nil // its names; the values would come after the body
	pr.Out.Header.Set("X-Api-Key", g.config.Key)
	pr.Out.Host = ""
	pr.Out.URL.Scheme = g.config.Upstream.Scheme
	pr.Out.URL.Host = g.config.Upstream.Host
	pr.Out.URL.Path = strings.TrimSuffix(g.config.Upstream.Path, "/") + pr.Out.URL.Path
}

// errRedirect stands for a response that would lead elsewhere.
var errRedirect = errors.New("the API answered with a redirect, which is not followed")

// modify cleans a response's header.
func (g *Gate) modify(resp *http.Response) error {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.StatusCode != http.StatusNotModified {
		return errRedirect
	}
	key := strings.ToLower(g.config.Key)
	for name, values := range resp.Header {
		if strings.Contains(strings.ToLower(name+"\n"+strings.Join(values, "\n")), key) {
			delete(resp.Header, name)
		}
	}
	resp.Trailer = nil
	for _, name := range []string{"Set-Cookie", "Location", "Alt-Svc", "Strict-Transport-Security"} {
		resp.Header.Del(name)
	}
	return nil
}

// fail answers for an upstream that did not. The VM learns the kind of the
// failure only: the error itself can name addresses of the host's networks.
func (g *Gate) fail(w http.ResponseWriter, _ *http.Request, err error) {
	status, text := http.StatusBadGateway, "cannot reach the Claude API"
	var cert *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.Is(err, errRedirect):
		text = err.Error()
	case errors.As(err, &cert):
		text += ": its TLS certificate is not trusted"
	case errors.As(err, &timeout) && timeout.Timeout():
		status, text = http.StatusGatewayTimeout, text+": timed out"
	}
	reason := strings.ReplaceAll(err.Error(), g.config.Key, "[key]")
	g.config.Logger.Warn("API request failed", "reason", plain.LineMax(reason, maxReasonBytes))
	refuse(w, status, "aibox: "+text)
}

// refuse answers in the API's own form of an error, which its clients show.
func refuse(w http.ResponseWriter, status int, text string) {
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	body, _ := json.Marshal(struct { // cannot fail
		Type  string `json:"type"`
		Error detail `json:"error"`
	}{"error", detail{"api_error", text}})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// final passes final responses only: a 103 has headers that modify never sees.
type final struct{ http.ResponseWriter }

func (f final) WriteHeader(status int) {
	if status >= 200 {
		f.ResponseWriter.WriteHeader(status)
	}
}

// Unwrap gives http.ResponseController the connection to flush.
func (f final) Unwrap() http.ResponseWriter { return f.ResponseWriter }
