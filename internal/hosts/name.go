package hosts

import (
	"fmt"
	"net/netip"
	"strings"
)

// Limits of a host name in bytes, from the DNS.
const (
	MaxName  = 253
	MaxLabel = 63
)

// parser carries the whole text for its errors.
type parser struct{ text string }

func (p parser) fail(reason, hint string, args ...any) error {
	return &Error{p.text, reason, fmt.Sprintf(hint, args...)}
}

// host reads a name, an IPv4 address or an IPv6 address in brackets, without a
// port. A name comes back in lower case and without a final dot. It refuses
// every second spelling of an address, since what one program takes for a name
// another takes for an address: 127.1, 0x7f.1, 2130706433, 010.0.0.1,
// [::ffff:10.0.0.1] and zones.
func (p parser) host(s string) (name string, addr netip.Addr, err error) {
	if strings.HasPrefix(s, "[") {
		addr, err = p.ipv6(s)
		return "", addr, err
	}
	name = strings.TrimSuffix(strings.ToLower(s), ".")
	if err := p.name(name); err != nil {
		return "", netip.Addr{}, err
	}
	if !looksNumeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return name, netip.Addr{}, nil
	}
	addr, err = netip.ParseAddr(name)
	if err != nil || !addr.Is4() || len(name) != len(s) {
		return "", netip.Addr{}, p.fail("is a number that could be read as an address", "write an IPv4 address as four decimal numbers such as 10.1.2.3:443")
	}
	return "", addr, nil
}

func (p parser) ipv6(s string) (netip.Addr, error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	addr, err := netip.ParseAddr(inner)
	switch {
	case err != nil || len(inner) != len(s)-2:
		return netip.Addr{}, p.fail("is no IPv6 address in brackets", "write it as [2001:db8::1]:443")
	case addr.Is4():
		return netip.Addr{}, p.fail("has an IPv4 address in brackets", "write %s:443", addr)
	case addr.Zone() != "":
		return netip.Addr{}, p.fail("has a zone", "write the address alone")
	case addr.Is4In6():
		return netip.Addr{}, p.fail("is an IPv4 address in IPv6 spelling", "write %s:443", addr.Unmap())
	}
	return addr, nil
}

// looksNumeric tells whether a name with this last label is an address to
// programs that follow the URL standard or inet_aton.
func looksNumeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// name checks a name in lower case.
func (p parser) name(s string) error {
	switch {
	case s == "":
		return p.fail("has no host", "write a host such as example.com")
	case strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f }):
		return p.fail("has letters outside ASCII", "write the name's ASCII form, which starts with xn--")
	case len(s) > MaxName:
		return p.fail("has a name of more than 253 bytes", "write a host such as example.com")
	}
	for label := range strings.SplitSeq(s, ".") {
		switch bad := strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-"); {
		case label == "":
			return p.fail("has an empty label between dots", "write a host such as example.com")
		case len(label) > MaxLabel:
			return p.fail("has a label of more than 63 bytes", "write a host such as example.com")
		case strings.Contains(label, "_"):
			return p.fail("has an underscore, which no host name has", "write the name with which programs connect")
		case bad != "":
			return p.fail(fmt.Sprintf("has %q in a host name", bad[:1]), "use letters, digits, hyphens and dots")
		case label[0] == '-' || label[len(label)-1] == '-':
			return p.fail("has a label that starts or ends with a hyphen", "write a host such as example.com")
		}
	}
	return nil
}
