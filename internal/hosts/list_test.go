package hosts

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aibox/internal/wire"
)

func list(t *testing.T, lines ...string) List {
	t.Helper()
	var l List
	for _, line := range lines {
		e, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, e)
	}
	return l
}

func TestMatch(t *testing.T) {
	l := list(t, "example.com", "example.com:80", "*.cdn.example", "127.0.0.1:8080", "[::1]:9090", "10.0.0.5:443")
	for _, c := range []struct{ target, want string }{
		{"example.com:443", "example.com"},
		{"example.com:80", "example.com:80"},
		{"example.com:81", ""},
		{"www.example.com:443", ""},
		{"notexample.com:443", ""},
		{"example.com.evil.net:443", ""},
		{"a.cdn.example:443", "*.cdn.example"},
		{"a.b.cdn.example:443", "*.cdn.example"},
		{"cdn.example:443", ""},
		{"acdn.example:443", ""},
		{"a.cdn.example:80", ""},
		{"localhost:8080", "127.0.0.1:8080"},
		{"127.0.0.1:8080", "127.0.0.1:8080"},
		{"[::1]:8080", "127.0.0.1:8080"},
		{"localhost:9090", "[::1]:9090"},
		{"127.0.0.2:8080", ""},
		{"localhost:443", ""},
		{"10.0.0.5:443", "10.0.0.5:443"},
		{"10.0.0.6:443", ""},
		{"10.0.0.5:80", ""},
	} {
		target, err := ParseTarget(c.target, 0)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := l.Match(target)
		if got := e.String(); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("Match(%s) = %s, %v, want %q", c.target, got, ok, c.want)
		}
	}
}

func TestListQuestions(t *testing.T) {
	l := list(t, "a.example", "127.0.0.1:8080", "b.example:80", "10.0.0.5:8443", "*.c.example", "[::1]:90")
	if got := l.Ports(); !slices.Equal(got, []uint16{80, 443, 8443}) {
		t.Errorf("Ports = %v", got)
	}
	if got := l.LoopbackPorts(); !slices.Equal(got, List{l[1], l[5]}) {
		t.Errorf("LoopbackPorts = %v", got)
	}
	for addr, want := range map[string]bool{"10.0.0.5": true, "10.0.0.6": false, "fe80::1%eth0": false, "127.0.0.1": false} {
		if got := l.HasAddress(netip.MustParseAddr(addr), 8443); got != want {
			t.Errorf("HasAddress(%s) = %v", addr, got)
		}
	}
	if a := netip.MustParseAddr("127.0.0.1"); !l.HasAddress(a, 8080) || l.HasAddress(a, 8081) || l.HasAddress(netip.IPv6Loopback(), 8080) {
		t.Error("HasAddress and the loopback")
	}
}

func TestConflicts(t *testing.T) {
	l := list(t, "a.example", "A.example:443", "127.0.0.1:80", "[::1]:80", "[::1]:81", "127.0.0.1:80", "a.example:80")
	want := []Conflict{
		{1, 0, "is listed twice", "remove one of the two"},
		{3, 2, "lists a port of the other loopback address too", "keep 127.0.0.1:80 or [::1]:80"},
		{5, 2, "is listed twice", "remove one of the two"},
	}
	if diff := cmp.Diff(want, l.Conflicts()); diff != "" {
		t.Error(diff)
	}
}

func TestTakenPortsAreThoseOfTheWire(t *testing.T) {
	if FirstTakenPort != wire.FirstTakenPort || LastTakenPort != wire.LastTakenPort {
		t.Error("taken ports differ from package wire")
	}
}
