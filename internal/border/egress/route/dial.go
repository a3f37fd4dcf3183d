package route

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"aibox/internal/hosts"
)

// Resolver looks names up. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// DialFunc opens a TCP connection to one address.
type DialFunc func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)

// SystemResolver returns the resolver for production: the host's name servers,
// asked by Go's own code, which confinement by jail expects.
func SystemResolver() Resolver { return absolute{&net.Resolver{PreferGo: true}} }

// absolute looks up names of several labels as they are, without the host's
// search domains, so that the name that was checked is the one that is asked for.
type absolute struct{ Resolver }

func (a absolute) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if strings.Contains(host, ".") {
		host += "."
	}
	return a.Resolver.LookupNetIP(ctx, network, host)
}

// SystemDial is the DialFunc for production.
func SystemDial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", addr.String())
}

// Router makes the connections of one VM. It is safe for concurrent use.
type Router struct {
	Allow    hosts.List
	OwnAddrs []netip.Addr // the host's own addresses, refused like its networks
	Resolver Resolver
	Dial     DialFunc
}

// Connect is the one way out: check the name, resolve, check the addresses,
// dial those. The error is a *Refusal or a *Failure.
func (r *Router) Connect(ctx context.Context, t hosts.Target) (net.Conn, error) {
	addrs, err := r.Addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	return r.ConnectTo(ctx, t, addrs)
}

// Addresses is the part of Connect before it dials: it returns the addresses to
// which t may be connected now.
func (r *Router) Addresses(ctx context.Context, t hosts.Target) ([]netip.Addr, error) {
	entry, refusal := Decide(r.Allow, t)
	if refusal != nil {
		return nil, refusal
	}
	if entry.Kind == hosts.Loopback || entry.Kind == hosts.Address {
		return []netip.Addr{entry.Addr}, nil
	}
	found, err := r.resolve(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	if refusal := DecideAddrs(r.Allow, r.OwnAddrs, t, found); refusal != nil {
		return nil, refusal
	}
	return found[:min(len(found), maxAddrs)], nil
}

// ConnectTo is the rest of Connect; addrs must be what Addresses said of t.
func (r *Router) ConnectTo(ctx context.Context, t hosts.Target, addrs []netip.Addr) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := race(ctx, r.Dial, addrs, t.Port)
	if err != nil {
		return nil, dialFailure(ctx, t, err)
	}
	if refusal := r.decideOwn(t, conn); refusal != nil {
		_ = conn.Close()
		return nil, refusal
	}
	return conn, nil
}

// decideOwn refuses a connection to an address that became the host's own after
// OwnAddrs was filled, as those of IPv6 do each day: its two ends have one address.
// A further IPv4 address of an interface shows itself by no such sign. The server
// sees a connection that says nothing.
func (r *Router) decideOwn(t hosts.Target, conn net.Conn) *Refusal {
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	remote, also := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !also || !local.IP.Equal(remote.IP) {
		return nil
	}
	own := remote.AddrPort().Addr().Unmap()
	if _, private := hosts.Private(own); private { // Addresses let it pass
		return nil
	}
	return DecideAddrs(r.Allow, []netip.Addr{own}, t, []netip.Addr{own})
}

func (r *Router) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	addrs, err := r.Resolver.LookupNetIP(ctx, "ip", name)
	if err == nil && len(addrs) > 0 {
		return addrs, nil
	}
	reason := "the name servers failed"
	if e := (*net.DNSError)(nil); errors.As(err, &e) && e.IsNotFound || err == nil {
		reason = "no such host"
	} else if ctx.Err() != nil || e != nil && e.IsTimeout {
		reason = "the name servers did not answer"
	}
	return nil, &Failure{http.StatusBadGateway, "aibox: cannot resolve " + name + ": " + reason}
}

// race dials the addresses in turn, the next one when the last has failed or
// takes longer than dialStagger, and returns the first connection.
func race(ctx context.Context, dial DialFunc, addrs []netip.Addr, port uint16) (net.Conn, error) {
	if len(addrs) == 1 {
		return dial(ctx, netip.AddrPortFrom(addrs[0].Unmap(), port))
	}
	type result struct {
		conn net.Conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan result)
	next := time.NewTimer(0)
	defer next.Stop()
	var first error
	for started, ended := 0, 0; ended < len(addrs); {
		select {
		case <-next.C:
			if started == len(addrs) {
				continue
			}
			go func(a netip.Addr) {
				conn, err := dial(ctx, netip.AddrPortFrom(a.Unmap(), port))
				select {
				case results <- result{conn, err}:
				case <-ctx.Done():
					if err == nil {
						_ = conn.Close()
					}
				}
			}(addrs[started])
			started++
			next.Reset(dialStagger)
		case got := <-results:
			if got.err == nil {
				return got.conn, nil
			}
			if ended++; first == nil {
				first = got.err
			}
			next.Reset(0)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, first
}

func dialFailure(ctx context.Context, t hosts.Target, err error) error {
	text := "aibox: cannot connect to " + t.String()
	var timeout interface{ Timeout() bool }
	if ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout() {
		return &Failure{http.StatusGatewayTimeout, text + ": timed out"}
	}
	if code := syscall.Errno(0); errors.As(err, &code) {
		text += ": " + code.Error()
	}
	return &Failure{http.StatusBadGateway, text}
}
