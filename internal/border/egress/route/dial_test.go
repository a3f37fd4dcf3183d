package route

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aibox/internal/hosts"
	"aibox/test/allow"
)

// network is a fake: addresses hang, fail, or connect.
type network struct {
	answers []netip.Addr
	works   map[string]net.Conn

	mu      sync.Mutex
	lookups []string
	dials   []string
}

func (n *network) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.lookups = append(n.lookups, host)
	return n.answers, nil
}

func (n *network) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	n.mu.Lock()
	n.dials = append(n.dials, addr.String())
	n.mu.Unlock()
	if conn, ok := n.works[addr.String()]; ok && conn != nil {
		return conn, nil
	} else if ok {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, errors.New("refused")
}

func addrs(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

func TestConnectTriesTheAddressesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want, other := net.Pipe()
		defer func() { _ = other.Close() }()
		n := &network{
			answers: addrs("2606:4700::1", "2606:4700::2", "::ffff:8.8.8.8", "8.8.4.4"),
			works:   map[string]net.Conn{"[2606:4700::1]:443": nil, "8.8.8.8:443": want},
		}
		r := &Router{Allow: allow.List(t, "web.example"), Resolver: n, Dial: n.dial}
		start := time.Now()
		conn, err := r.Connect(t.Context(), hosts.Target{Name: "web.example", Port: 443})
		if err != nil || conn != want {
			t.Fatalf("Connect = %v, %v", conn, err)
		}
		if d := time.Since(start); d != dialStagger {
			t.Errorf("took %v, want one stagger for the address that hangs and none for the one that fails", d)
		}
		if wanted := []string{"[2606:4700::1]:443", "[2606:4700::2]:443", "8.8.8.8:443"}; !slices.Equal(n.dials, wanted) {
			t.Errorf("dialed %v, want %v", n.dials, wanted)
		}
	})
}

func TestConnectDialsAtMostSoManyAddresses(t *testing.T) {
	n := &network{}
	for i := range 3 * maxAddrs {
		n.answers = append(n.answers, netip.AddrFrom4([4]byte{8, 8, 8, byte(i)}))
	}
	r := &Router{Allow: allow.List(t, "web.example"), Resolver: n, Dial: n.dial}
	var failure *Failure
	if _, err := r.Connect(t.Context(), hosts.Target{Name: "web.example", Port: 443}); !errors.As(err, &failure) || failure.Status != 502 {
		t.Errorf("Connect: %v", err)
	}
	if len(n.dials) != maxAddrs || len(n.lookups) != 1 {
		t.Errorf("%d dials, %d lookups", len(n.dials), len(n.lookups))
	}
	n.answers = append(n.answers, netip.MustParseAddr("10.0.0.1"))
	var refusal *Refusal
	if _, err := r.Connect(t.Context(), hosts.Target{Name: "web.example", Port: 443}); !errors.As(err, &refusal) {
		t.Errorf("a private address behind many public ones: %v", err)
	}
}

// ends is a connection with addresses.
type ends struct {
	net.Conn
	local, remote net.Addr
	closed        bool
}

func (e *ends) LocalAddr() net.Addr  { return e.local }
func (e *ends) RemoteAddr() net.Addr { return e.remote }
func (e *ends) Close() error         { e.closed = true; return nil }

func TestConnectRefusesAnAddressThatBecameTheHostsOwn(t *testing.T) {
	const there = "[2606:4700::1]:443"
	at := func(text string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text)) }
	for _, c := range []struct {
		allow, local string
		refused      bool
	}{
		{"web.example", "[2606:4700::2]:50000", false},
		{"web.example", "[2606:4700::1]:50000", true},
		{there, "[2606:4700::1]:50000", false},
	} {
		conn := &ends{local: at(c.local), remote: at(there)}
		n := &network{answers: addrs("2606:4700::1"), works: map[string]net.Conn{there: conn}}
		r := &Router{Allow: allow.List(t, "web.example", c.allow), Resolver: n, Dial: n.dial}
		_, err := r.Connect(t.Context(), hosts.Target{Name: "web.example", Port: 443})
		var refusal *Refusal
		if errors.As(err, &refusal) != c.refused || (err != nil) != c.refused || conn.closed != c.refused {
			t.Errorf("from %s with %s allowed: %v, closed %v", c.local, c.allow, err, conn.closed)
		}
	}
}

func TestSystemResolverAsksForTheNameItself(t *testing.T) {
	n := &network{}
	for _, name := range []string{"web.example", "intranet"} {
		_, _ = absolute{n}.LookupNetIP(t.Context(), "ip", name)
	}
	if want := []string{"web.example.", "intranet"}; !slices.Equal(n.lookups, want) {
		t.Errorf("looked up %v, want %v", n.lookups, want)
	}
}
