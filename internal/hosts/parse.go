package hosts

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// MaxText is the longest text in bytes that Parse and ParseTarget look at.
const MaxText = 300

// Parse reads one entry: "host", "host:port", "*.domain", "*.domain:port",
// "127.0.0.1:port", "[::1]:port", or another literal address with a port.
// Letters of either case are accepted. The error is an *Error.
func Parse(text string) (Entry, error) {
	p := parser{text}
	if err := p.shape(); err != nil {
		return Entry{}, err
	}
	rest, wild := strings.CutPrefix(text, "*.")
	if strings.Contains(rest, "*") {
		return Entry{}, p.star(rest)
	}
	host, port, hasPort, err := p.split(rest)
	if err != nil {
		return Entry{}, err
	}
	name, addr, err := p.host(host)
	if err != nil {
		return Entry{}, err
	}
	if addr.IsValid() {
		return p.address(addr, port, hasPort, wild)
	}
	if isLocalhost(name) {
		return Entry{}, p.fail("is no entry", "for a port of this machine write 127.0.0.1:%d or [::1]:%d", port, port)
	}
	if strings.HasSuffix(host, ".") {
		return Entry{}, p.fail("ends in a dot", "write %s", withPort(name, port))
	}
	if !wild {
		return Entry{Kind: Name, Host: name, Port: port}, nil
	}
	if !strings.Contains(name, ".") {
		return Entry{}, p.fail("would allow a whole top-level domain", "write *.example.%s, or list the hosts", name)
	}
	return Entry{Kind: Subdomains, Host: name, Port: port}, nil
}

// address checks what a literal address in an entry needs beyond its spelling.
func (p parser) address(addr netip.Addr, port uint16, hasPort, wild bool) (Entry, error) {
	class, _ := Private(addr)
	e := Entry{Kind: Address, Addr: addr, Port: port}
	switch {
	case wild:
		return Entry{}, p.fail("is a wildcard of an address", "write %s", e)
	case class == ClassUnspecified:
		return Entry{}, p.fail("is no address of one host", "for a port of this machine write 127.0.0.1:%d or [::1]:%d", port, port)
	case class == ClassMulticast || class == ClassBroadcast:
		return Entry{}, p.fail("is a "+class+" address, not one host", "name one host")
	case addr.Is6() && class == ClassLinkLocal:
		return Entry{}, p.fail("is a link-local address, which means nothing without its interface", "use another address of that host")
	case !hasPort:
		return Entry{}, p.fail("is an address without a port", "write %s", e)
	case class != ClassLoopback:
		return e, nil
	case addr != loopback4 && addr != loopback6:
		return Entry{}, p.fail("is on the loopback, where only 127.0.0.1 and [::1] can be listed", "write 127.0.0.1:%d", port)
	case port >= FirstTakenPort && port <= LastTakenPort:
		return Entry{}, p.fail("has a port that aibox itself uses in the VM", "use a port outside %d to %d", FirstTakenPort, LastTakenPort)
	}
	e.Kind = Loopback
	return e, nil
}

var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6 = netip.IPv6Loopback()
)

func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || name == "localhost.localdomain"
}

// star explains a "*" that is no leading "*.".
func (p parser) star(rest string) error {
	if rest == "*" || strings.HasPrefix(rest, "*:") {
		return p.fail("would allow every host", "list the hosts, or all below a domain as *.example.com")
	}
	return p.fail(`has a "*" that is not the first label`, "write *.example.com for all hosts below example.com")
}

// shape refuses what is no host at all, with a hint at what was meant.
func (p parser) shape() error {
	switch {
	case p.text == "":
		return p.fail("is empty", "write a host such as example.com")
	case len(p.text) > MaxText:
		return &Error{Text: p.text[:60] + "...", Reason: "is too long for a host", Hint: "write a host such as example.com"}
	case strings.ContainsFunc(p.text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return p.fail("contains a space or control character", "write one host per entry")
	}
	rest, isURL := p.text, false
	if i := strings.Index(rest, "://"); i >= 0 {
		rest, isURL = rest[i+3:], true
	}
	authority, _, hasPath := cutAny(rest, `/\?#`)
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	hint := "write a host such as example.com"
	if host != p.text && host != "" {
		e, err := Parse(withSchemePort(p.text, host))
		if inner := (*Error)(nil); err == nil {
			hint = "write " + e.String()
		} else if errors.As(err, &inner) {
			hint = inner.Hint
		}
	}
	switch {
	case isURL:
		return &Error{p.text, "is a URL, not a host", hint}
	case hasPath:
		return &Error{p.text, "has a path; hosts are allowed as a whole", hint}
	case host != authority:
		return &Error{p.text, "has a login in front of the host", hint}
	}
	return nil
}

// withSchemePort adds the port that a URL of plain HTTP leaves out.
func withSchemePort(url, host string) string {
	ported := strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":")
	if !ported && len(url) > 7 && strings.EqualFold(url[:7], "http://") {
		return host + ":80"
	}
	return host
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// split cuts "host", "host:port", "[v6]:port" or "[v6]"; the host keeps its
// brackets. Without a port it returns DefaultPort.
func (p parser) split(s string) (host string, port uint16, hasPort bool, err error) {
	host, digits := s, ""
	if end := strings.IndexByte(s, ']'); strings.HasPrefix(s, "[") && end > 0 {
		host, digits = s[:end+1], s[end+1:]
		if hasPort = digits != ""; hasPort && digits[0] != ':' {
			return "", 0, false, p.fail(`has text after the "]"`, "write %s:443", host)
		}
		digits = strings.TrimPrefix(digits, ":")
	} else {
		host, digits, hasPort = strings.Cut(s, ":")
		if strings.Contains(digits, ":") {
			if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
				return "", 0, false, p.fail("is an IPv6 address without brackets and port", "write [%s]:443", a)
			}
			return "", 0, false, p.fail("has more than one colon", "write host:port, and an IPv6 address as [2001:db8::1]:443")
		}
	}
	if !hasPort {
		return host, DefaultPort, false, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 || digits[0] < '1' || digits[0] > '9' {
		return "", 0, false, p.fail("has no port from 1 to 65535 after the colon", "write %s:443", host)
	}
	return host, uint16(n), true, nil
}
