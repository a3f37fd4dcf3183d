package run

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"aibox/internal/border/egress"
	"aibox/internal/border/keygate"
	"aibox/internal/border/link"
	"aibox/internal/fault"
	"aibox/internal/wire"
)

// Streams of each service at once. Together they stay under link.MaxStreams.
const (
	maxProxyStreams   = 180
	maxAPIStreams     = 32
	maxControlStreams = 1
)

// services are what the VM finds at the other end of its streams.
type services struct {
	recorder *egress.Recorder
	proxy    *egress.Proxy
	gate     *keygate.Gate // nil without a key
	// control takes the one control stream of a boot.
	control chan net.Conn
}

func newServices(p *prepared, o Options, log *slog.Logger) (*services, error) {
	s := &services{
		recorder: egress.NewRecorder(p.proxyLog, time.Now),
		control:  make(chan net.Conn, 1),
	}
	s.proxy = egress.New(egress.Config{
		Allow: p.settings.Allow, OwnAddrs: ownAddrs(), Recorder: s.recorder, Resolver: o.Resolver, Logger: log,
	})
	if p.resolved.APIKey == "" {
		return s, nil
	}
	roots, err := rootCAs(o.upstream())
	if err != nil {
		return nil, err
	}
	s.gate, err = keygate.New(keygate.Config{
		Upstream: o.upstream(), Key: string(p.resolved.APIKey), RootCAs: roots, Recorder: s.recorder, Logger: log,
	})
	return s, err
}

// rootCAs reads the system's certificates, which a confined aibox cannot.
func rootCAs(upstream *url.URL) (*x509.CertPool, error) {
	if upstream.Scheme != "https" {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err == nil && roots.Equal(x509.NewCertPool()) {
		err = errors.New("there are none")
	}
	if err != nil {
		return nil, fault.New(fault.Machine, "install them: sudo apt-get install ca-certificates",
			"read this machine's root certificates, by which %s is known: %w", upstream.Host, err)
	}
	return roots, nil
}

// claudeAPI is where the key gate sends requests unless the host says otherwise.
func claudeAPI() *url.URL { return &url.URL{Scheme: "https", Host: "api.anthropic.com"} }

func (o Options) upstream() *url.URL {
	if o.Upstream != nil {
		return o.Upstream
	}
	return claudeAPI()
}

// handlers are the services by name. The control stream is handed over: who
// takes it closes done when its boot is over.
func (s *services) handlers(done <-chan struct{}) map[string]link.Handler {
	h := map[string]link.Handler{
		wire.ServiceProxy: {Serve: s.proxy.Serve, MaxStreams: maxProxyStreams},
		wire.ServiceControl: {MaxStreams: maxControlStreams, Serve: func(conn net.Conn) {
			select {
			case s.control <- conn:
				<-done
			default: // a second control stream is no part of the protocol
			}
		}},
	}
	if s.gate != nil {
		h[wire.ServiceAPI] = link.Handler{Serve: s.gate.Serve, MaxStreams: maxAPIStreams}
	}
	return h
}

// ownAddrs are the host's own addresses, which a name must not lead to.
func ownAddrs() []netip.Addr {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.Addr
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr())
		}
	}
	return own
}

// LookupNetIP implements egress.Resolver.
func (s *scripted) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addrs, err := s.answer(host)
	if err == nil && addrs == nil {
		err = &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, err
}
