package hosts

import "net/netip"

// The classes of addresses that Private names and that callers compare.
const (
	ClassUnspecified = "unspecified"
	ClassLoopback    = "loopback"
	ClassLinkLocal   = "link-local"
	ClassPrivate     = "private"
	ClassMulticast   = "multicast"
	ClassBroadcast   = "broadcast"
	classReserved    = "reserved"
)

// nat64 is the well-known prefix whose last four bytes are an IPv4 address.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// globalV6 is all that is assigned to the public IPv6 internet.
var globalV6 = netip.MustParsePrefix("2000::/3")

// classes is searched in order, so a narrow prefix stands before a wide one.
var classes = []struct {
	prefix netip.Prefix
	class  string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), ClassUnspecified},
	{netip.MustParsePrefix("10.0.0.0/8"), ClassPrivate},
	{netip.MustParsePrefix("100.64.0.0/10"), "carrier-grade NAT"},
	{netip.MustParsePrefix("127.0.0.0/8"), ClassLoopback},
	{netip.MustParsePrefix("169.254.0.0/16"), ClassLinkLocal},
	{netip.MustParsePrefix("172.16.0.0/12"), ClassPrivate},
	{netip.MustParsePrefix("192.0.0.0/24"), classReserved},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), ClassPrivate},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmark"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), ClassMulticast},
	{netip.MustParsePrefix("255.255.255.255/32"), ClassBroadcast},
	{netip.MustParsePrefix("240.0.0.0/4"), classReserved},

	{netip.MustParsePrefix("::/128"), ClassUnspecified},
	{netip.MustParsePrefix("::1/128"), ClassLoopback},
	{netip.MustParsePrefix("::/96"), "IPv4-compatible"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "local NAT64"},
	{netip.MustParsePrefix("100::/64"), "discard"},
	{netip.MustParsePrefix("2001::/32"), "Teredo"},
	{netip.MustParsePrefix("2001:2::/48"), "benchmark"},
	{netip.MustParsePrefix("2001::/23"), classReserved},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("2002::/16"), "6to4"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("fc00::/7"), "unique local"},
	{netip.MustParsePrefix("fe80::/10"), ClassLinkLocal},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
	{netip.MustParsePrefix("ff00::/8"), ClassMulticast},
}

// Private names the class of an address that is not on the public internet,
// and is false for a public one. An IPv4-mapped address and one of the well-known
// NAT64 prefix are what the IPv4 address in them is, since a connection to
// them ends there. Teredo and 6to4 are refused whatever they embed: they reach IPv4
// addresses of an attacker's choice and nobody serves from them. NAT64 prefixes that
// a network chose for itself cannot be told from public addresses.
func Private(a netip.Addr) (class string, private bool) {
	switch {
	case !a.IsValid():
		return "invalid", true
	case a.Zone() != "":
		return ClassLinkLocal, true
	}
	if a = a.Unmap(); nat64.Contains(a) {
		b := a.As16()
		class, private = Private(netip.AddrFrom4([4]byte(b[12:])))
		if private {
			class = "NAT64 of " + class
		}
		return class, private
	}
	for _, c := range classes {
		if c.prefix.Contains(a) {
			return c.class, true
		}
	}
	if a.Is6() && !globalV6.Contains(a) {
		return classReserved, true
	}
	return "", false
}
