// Package hosts knows which hosts and ports a project allows: how an entry of
// the config's "allow" list is written, what it matches, and which addresses
// belong to the host's own networks. It is pure: it neither resolves nor dials.
package hosts

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// DefaultPort is the port of an entry that names none.
const DefaultPort = 443

// Ports that aibox serves on the VM's loopback, so no entry for the host's
// loopback may name them.
const (
	FirstTakenPort = 3128
	LastTakenPort  = 3132
)

// Kind is a kind of Entry.
type Kind int

// The kinds of entries.
const (
	Name       Kind = iota // one host by its name
	Subdomains             // all names below a domain, not the domain itself
	Address                // one literal address
	Loopback               // one port on the host's loopback
)

// Entry is one checked entry of the allow list. Entries are comparable, and
// two that allow the same are equal.
type Entry struct {
	Kind Kind
	Host string     // Name and Subdomains: in lower case, without "*."
	Addr netip.Addr // Address and Loopback
	Port uint16
}

// String returns the entry as a line of the config, so that Parse of it gives
// the same entry.
func (e Entry) String() string {
	switch e.Kind {
	case Address, Loopback:
		return netip.AddrPortFrom(e.Addr, e.Port).String()
	case Subdomains:
		return "*." + withPort(e.Host, e.Port)
	default:
		return withPort(e.Host, e.Port)
	}
}

// Line returns the entry as an item of the "allow" list in YAML, quoted where
// YAML would read something else than a text.
func (e Entry) Line() string {
	s := e.String()
	plain := s[0] >= 'a' && s[0] <= 'z' && strings.ContainsAny(s, ".:")
	if plain || s[0] >= '0' && s[0] <= '9' && strings.Contains(s, ":") {
		return "- " + s
	}
	return "- " + strconv.Quote(s)
}

func withPort(host string, port uint16) string {
	if port == DefaultPort {
		return host
	}
	return host + ":" + strconv.Itoa(int(port))
}

// Error says why a text is no entry or no target of a request.
type Error struct {
	Text   string // what was parsed
	Reason string // continues the text: "has no port"
	Hint   string // what to write instead; may be empty
}

func (e *Error) Error() string { return fmt.Sprintf("%q %s", e.Text, e.Reason) }
