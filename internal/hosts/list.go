package hosts

import (
	"net/netip"
	"slices"
	"strconv"
)

// List is a project's allow list.
type List []Entry

// Match returns the entry that allows the target. A target on the loopback
// matches by its port alone; the address to dial is the entry's. That
// a name is allowed says nothing about the addresses it resolves to.
func (l List) Match(t Target) (Entry, bool) {
	for _, e := range l {
		if e.Port == t.Port && e.matches(t) {
			return e, true
		}
	}
	return Entry{}, false
}

func (e Entry) matches(t Target) bool {
	switch e.Kind {
	case Name:
		return t.Name == e.Host
	case Subdomains:
		return below(t.Name, e.Host)
	case Address:
		return t.Addr == e.Addr
	case Loopback:
		return t.Loopback()
	}
	return false
}

// HasAddress tells whether the list names this very address and port, so that
// a listed name may resolve to it.
func (l List) HasAddress(a netip.Addr, port uint16) bool {
	return slices.ContainsFunc(l, func(e Entry) bool {
		return (e.Kind == Address || e.Kind == Loopback) && e.Addr == a && e.Port == port
	})
}

// LoopbackPorts returns the entries for the host's loopback in the list's order.
func (l List) LoopbackPorts() []Entry {
	var found []Entry
	for _, e := range l {
		if e.Kind == Loopback {
			found = append(found, e)
		}
	}
	return found
}

// Ports returns each port outside the loopback to which the list can lead,
// sorted: what a confinement that knows only ports has to let through.
func (l List) Ports() []uint16 {
	var ports []uint16
	for _, e := range l {
		if e.Kind != Loopback {
			ports = append(ports, e.Port)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// Conflict is an entry that cannot stand beside an earlier one.
type Conflict struct {
	Index, Earlier int // in the list
	Reason, Hint   string
}

// Conflicts returns the entries that repeat an earlier one or that list a port
// on the second loopback address, at most one for each entry.
func (l List) Conflicts() []Conflict {
	var found []Conflict
	seen := map[Entry]int{}
	ports := map[uint16]int{}
	for i, e := range l {
		if at, ok := seen[e]; ok {
			found = append(found, Conflict{i, at, "is listed twice", "remove one of the two"})
			continue
		}
		seen[e] = i
		if e.Kind != Loopback {
			continue
		}
		if at, ok := ports[e.Port]; ok {
			found = append(found, Conflict{i, at, "lists a port of the other loopback address too",
				"keep " + l[at].String() + " or " + e.String()})
			continue
		}
		ports[e.Port] = i
	}
	return found
}

func itoa(port uint16) string { return strconv.Itoa(int(port)) }
