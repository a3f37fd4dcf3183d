package route

import (
	"net/netip"
	"strings"
	"testing"

	"aibox/internal/hosts"
	"aibox/test/allow"
)

func TestDecide(t *testing.T) {
	list := allow.List(t, "example.com", "*.cdn.example:80", "127.0.0.1:8080", "10.0.0.5:443")
	for _, c := range []struct{ target, want string }{
		{"example.com:443", ""},
		{"EXAMPLE.COM.:443", ""},
		{"a.cdn.example:80", ""},
		{"localhost:8080", ""},
		{"127.0.0.1:8080", ""},
		{"[::1]:8080", ""},
		{"10.0.0.5:443", ""},
		{"other.com:443", `aibox: other.com:443 is not allowed; to allow it add to "allow" in the project's config: - other.com`},
		{"example.com:80", `add to "allow" in the project's config: - example.com:80`},
		{"cdn.example:80", "config: - cdn.example:80"},
		{"localhost:8081", "config: - 127.0.0.1:8081"},
		{"[::1]:8081", `config: - "[::1]:8081"`},
		{"10.0.0.5:80", "config: - 10.0.0.5:80"},
		{"169.254.169.254:80", "config: - 169.254.169.254:80"},
		{"0.0.0.0:8080", "0.0.0.0:8080 is not allowed: "},
		{"[::]:8080", "write 127.0.0.1:8080"},
		{"127.0.0.2:8080", "write 127.0.0.1:8080"},
		{"localhost:3128", "aibox itself uses"},
		{"x.localhost:8080", "is no entry"},
		{"localhost.localdomain:8080", "is no entry"},
		{"2130706433:8080", "read as an address"},
		{"0x7f.1:8080", "read as an address"},
		{"127.1:8080", "read as an address"},
		{"0177.0.0.1:8080", "read as an address"},
		{"[::ffff:127.0.0.1]:8080", "IPv6 spelling"},
		{"[::ffff:7f00:1]:8080", "IPv6 spelling"},
		{"[0:0:0:0:0:ffff:7f00:1]:8080", "IPv6 spelling"},
		{"[::1%lo]:8080", "zone"},
		{"me@example.com:443", "login"},
		{"example.com:443@other.com", "login"},
		{"example.com:443/x", "path"},
		{"example.com\\.other.com:443", "path"},
		{"ex%61mple.com:443", "in a host name"},
		{"example.com", "no port"},
		{"example.com:", "no port"},
		{"example.com:0443", "no port"},
	} {
		target, refusal := ParseTarget(c.target, 0)
		if refusal == nil {
			_, refusal = Decide(list, target)
		}
		if (refusal != nil) != (c.want != "") {
			t.Errorf("%s: refusal %v, want %q", c.target, refusal, c.want)
			continue
		}
		if refusal != nil && (!strings.Contains(refusal.Text, c.want) || !strings.HasPrefix(refusal.Text, "aibox: ") || refusal.Target == "") {
			t.Errorf("%s: %q, want %q", c.target, refusal.Text, c.want)
		}
	}
}

func TestDecideAddrs(t *testing.T) {
	list := allow.List(t, "example.com", "10.0.0.5:443", "127.0.0.1:443")
	own := []netip.Addr{netip.MustParseAddr("9.9.9.9")}
	for _, c := range []struct{ addrs, want string }{
		{"8.8.8.8 2606:4700::1", ""},
		{"::ffff:8.8.8.8", ""},
		{"64:ff9b::808:808", ""},
		{"10.0.0.5", ""},
		{"10.0.0.5 8.8.8.8", ""},
		{"::ffff:10.0.0.5", ""},
		{"127.0.0.1", ""},
		{"10.0.0.6", "resolves to 10.0.0.6, an address of the host's own networks (private); to allow that address add to \"allow\" in the project's config: - 10.0.0.6:443"},
		{"8.8.8.8 10.0.0.6", "10.0.0.6"},
		{"10.0.0.5 10.0.0.6", "10.0.0.6"},
		{"::1", `(loopback); to allow that address add to "allow" in the project's config: - "[::1]:443"`},
		{"127.0.0.2", "(loopback); it cannot be allowed"},
		{"::ffff:127.0.0.2", "resolves to 127.0.0.2"},
		{"169.254.169.254", "(link-local)"},
		{"100.64.0.1", "(carrier-grade NAT)"},
		{"0.0.0.0", "(unspecified); it cannot be allowed"},
		{"::", "(unspecified); it cannot be allowed"},
		{"224.0.0.1", "(multicast)"},
		{"64:ff9b::a00:6", `(NAT64 of private); to allow that address add to "allow" in the project's config: - "[64:ff9b::a00:6]:443"`},
		{"64:ff9b::a00:5", "(NAT64 of private)"},
		{"64:ff9b::7f00:1", "(NAT64 of loopback)"},
		{"fe80::1%eth0", "(link-local); it cannot be allowed"},
		{"fd00::1", "(unique local)"},
		{"2002:7f00:1::", "(6to4)"},
		{"9.9.9.9", "(own); to allow that address"},
		{"::ffff:9.9.9.9", "(own); to allow that address"},
	} {
		var addrs []netip.Addr
		for a := range strings.FieldsSeq(c.addrs) {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		r := DecideAddrs(list, own, hosts.Target{Name: "example.com", Port: 443}, addrs)
		if (r != nil) != (c.want != "") || r != nil && !strings.Contains(r.Text, c.want) {
			t.Errorf("%s: %v, want %q", c.addrs, r, c.want)
		}
	}
}

func TestRefusalLine(t *testing.T) {
	for _, c := range []struct{ target, text, want string }{
		{"a.test:443", "a.test:443 is not allowed", "a.test:443 is not allowed"},
		{"git push a.test/x refs/heads/y", "branch not listed", "git push a.test/x refs/heads/y: branch not listed"},
	} {
		if got := (&Refusal{c.target, c.text}).Line(); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.target, c.text, got, c.want)
		}
	}
}
