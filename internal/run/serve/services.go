// Package serve is what a VM finds at the other end of its streams: it makes
// the border's services from the project's settings and names them for the link.
// Everything they need from the host is read here, before aibox confines itself.
package serve

import (
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"aibox/internal/border/clipboard"
	"aibox/internal/border/egress"
	"aibox/internal/border/egress/record"
	"aibox/internal/border/gitgate"
	"aibox/internal/border/idebridge"
	"aibox/internal/border/keygate"
	"aibox/internal/border/link"
	"aibox/internal/fault"
	"aibox/internal/gitlogin"
	"aibox/internal/hosts"
	"aibox/internal/wire"
)

// Streams of each service at once. Together they stay under link.MaxStreams.
const (
	maxProxyStreams   = 180
	maxAPIStreams     = 32
	maxGitStreams     = 32
	maxControlStreams = 1
)

// Config is what the services are made of.
type Config struct {
	Allow    hosts.List
	Resolver egress.Resolver  // nil means the system's
	APIKey   string           // empty for no key gate
	Upstream *url.URL         // where the key gate sends calls
	Git      *gitlogin.Logins // nil for no broker
	Desktop  Desktop
	Log      io.Writer // proxy.log
	Logger   *slog.Logger
}

// Services are the VM's services of one run.
type Services struct {
	// Recorder knows which hosts were reached and refused.
	Recorder *record.Recorder
	// Control gets the one control stream of a boot.
	Control chan net.Conn

	proxy *egress.Proxy
	keys  *keygate.Gate // nil without a key
	git   *gitgate.Gate // nil without repositories
	ports []uint16

	ide       *idebridge.Bridge // nil without an IDE
	clipboard *clipboard.Gate   // nil without a clipboard
}

// New makes the services. Close ends them.
func New(c Config) (*Services, error) {
	s := &Services{Recorder: record.New(c.Log, time.Now), Control: make(chan net.Conn, 1)}
	s.proxy = egress.New(egress.Config{
		Allow: c.Allow, OwnAddrs: ownAddrs(), Recorder: s.Recorder, Resolver: c.Resolver, Logger: c.Logger,
	})
	s.ports = c.Allow.Ports()
	for _, loopback := range c.Allow.LoopbackPorts() {
		s.ports = append(s.ports, loopback.Port)
	}
	if c.Git != nil {
		s.git = newGitGate(c, s.Recorder)
		s.ports = append(s.ports, c.Git.Ports()...)
	}
	s.addDesktop(c.Desktop)
	if c.APIKey == "" {
		return s, nil
	}
	roots, err := rootCAs(c.Upstream)
	if err != nil {
		return nil, err
	}
	s.ports = append(s.ports, portOf(c.Upstream))
	s.keys, err = keygate.New(keygate.Config{
		Upstream: c.Upstream, Key: c.APIKey, RootCAs: roots, Recorder: s.Recorder, Logger: c.Logger,
	})
	return s, err
}

// Close ends the services and writes the summary of the log.
func (s *Services) Close() {
	if s.git != nil {
		s.git.Close()
	}
	s.Recorder.Close()
}

// Ports are the TCP ports to which the services can connect, sorted, each once.
func (s *Services) Ports() []uint16 {
	return slices.Compact(slices.Sorted(slices.Values(s.ports)))
}

func portOf(u *url.URL) uint16 {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return 443
	}
	return uint16(port)
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

// Handlers are the services by name. The control stream is handed over: who
// takes it closes done when its boot is over.
func (s *Services) Handlers(done <-chan struct{}) map[string]link.Handler {
	h := map[string]link.Handler{
		wire.ServiceProxy: {Serve: s.proxy.Serve, MaxStreams: maxProxyStreams},
		wire.ServiceControl: {MaxStreams: maxControlStreams, Serve: func(conn net.Conn) {
			select {
			case s.Control <- conn:
				<-done
			default: // a second control stream is no part of the protocol
			}
		}},
	}
	if s.keys != nil {
		h[wire.ServiceAPI] = link.Handler{Serve: s.keys.Serve, MaxStreams: maxAPIStreams}
	}
	if s.git != nil {
		h[wire.ServiceGit] = link.Handler{Serve: s.git.Serve, MaxStreams: maxGitStreams}
	}
	s.desktopHandlers(h)
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
