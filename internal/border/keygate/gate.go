package keygate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"

	"aibox/internal/wire"
	"aibox/internal/wire/single"
)

// Recorder notes hosts for proxy.log; package egress has one.
type Recorder interface {
	Connect(target string)
}

// Config is what a Gate needs. Upstream and Key come from the host side only.
type Config struct {
	Upstream  *url.URL          // https, or http on the host's loopback
	Key       string            // the user's API key
	RootCAs   *x509.CertPool    // read before confinement; nil means the system's
	Transport http.RoundTripper // nil means one made of RootCAs
	Recorder  Recorder          // may be nil
	Logger    *slog.Logger      // may be nil; never gets the key
}

// Gate serves connections of one VM. It is safe for concurrent use.
type Gate struct {
	config Config
	proxy  *httputil.ReverseProxy
	server *http.Server
	slots  chan struct{}
}

// New returns a gate, or an error that does not contain the key.
func New(c Config) (*Gate, error) {
	if err := checkUpstream(c.Upstream); err != nil {
		return nil, err
	}
	if c.Key == "" || strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("the API key is empty or has a character that no key has")
	}
	if c.Transport == nil {
		c.Transport = transport(c.RootCAs)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Gate{config: c, slots: make(chan struct{}, maxConcurrent)}
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // net/http would log what the VM sent
	g.proxy = &httputil.ReverseProxy{
		Rewrite:        g.rewrite,
		ModifyResponse: g.modify,
		ErrorHandler:   g.fail,
		Transport:      c.Transport,
		FlushInterval:  -1,
		ErrorLog:       silent,
	}
	g.server = &http.Server{
		Handler:                      g,
		ReadHeaderTimeout:            headTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		ErrorLog:                     silent,
		DisableGeneralOptionsHandler: true,
	}
	return g, nil
}

// checkUpstream keeps the key from a network in the clear.
func checkUpstream(u *url.URL) error {
	if u == nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return errors.New("the API's address is no URL of a host and a path")
	}
	addr, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return fmt.Errorf("the API's address %s is not https", u.Redacted())
	}
	return nil
}

func transport(roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTime, Resolver: &net.Resolver{PreferGo: true}}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTime,
		ResponseHeaderTimeout:  responseTime,
		IdleConnTimeout:        upstreamIdle,
		MaxIdleConnsPerHost:    maxConcurrent,
		MaxResponseHeaderBytes: maxResponse,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
	}
}

// target is how proxy.log names the gate.
var target = fmt.Sprintf("localhost:%d", wire.APIPort)

// Serve answers the requests of one connection and returns once it is closed.
func (g *Gate) Serve(conn net.Conn) {
	single.Serve(g.server, conn)
}
