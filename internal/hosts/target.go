package hosts

import (
	"net/netip"
	"strings"
)

// Target is the host and port that a request names: a name, a literal
// address, or the host's loopback.
type Target struct {
	Name string     // in lower case, without a final dot; empty for an address
	Addr netip.Addr // valid for a literal address
	Port uint16
}

// ParseTarget reads "host:port" as a request writes it, with the port when it
// names none; port 0 makes it an error to name none. It is as strict about
// spellings as Parse. The error is an *Error.
func ParseTarget(text string, port uint16) (Target, error) {
	p := parser{text}
	if err := p.shape(); err != nil {
		return Target{}, err
	}
	host, named, hasPort, err := p.split(text)
	if err != nil {
		return Target{}, err
	}
	if hasPort {
		port = named
	}
	if port == 0 {
		return Target{}, p.fail("has no port", "write host:port")
	}
	name, addr, err := p.host(host)
	if err != nil {
		return Target{}, err
	}
	return Target{Name: name, Addr: addr, Port: port}, nil
}

// Loopback tells whether the target is the host's loopback as programs in the VM name it.
func (t Target) Loopback() bool {
	return t.Name == "localhost" || t.Addr == loopback4 || t.Addr == loopback6
}

// String returns "host:port".
func (t Target) String() string {
	if t.Addr.IsValid() {
		return netip.AddrPortFrom(t.Addr, t.Port).String()
	}
	return t.Name + ":" + itoa(t.Port)
}

// Entry returns the entry that allows this target and no other; the error is
// an *Error for one that no entry can allow, such as 0.0.0.0:80.
func (t Target) Entry() (Entry, error) {
	if t.Name == "localhost" {
		return Parse(netip.AddrPortFrom(loopback4, t.Port).String())
	}
	return Parse(t.String())
}

// below tells whether name is a subdomain of domain.
func below(name, domain string) bool {
	rest, ok := strings.CutSuffix(name, domain)
	return ok && len(rest) > 1 && rest[len(rest)-1] == '.'
}
