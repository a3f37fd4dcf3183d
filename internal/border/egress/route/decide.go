package route

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"aibox/internal/hosts"
	"aibox/internal/plain"
)

// Refusal is a host and port that the VM asked for and did not get.
type Refusal struct {
	Target string // host:port, or what stood there, printable
	Text   string // one printable line for the user, with the config line to add
}

func (r *Refusal) Error() string { return r.Text }

// Line is Text for a reader who does not know what it is about: the target stands
// before it unless it is in it.
func (r *Refusal) Line() string {
	if strings.Contains(r.Text, r.Target) {
		return r.Text
	}
	return r.Target + ": " + r.Text
}

// toAllow stands before the config line in a refusal.
const toAllow = `add to "allow" in the project's config: `

// ParseTarget reads the host and port that a request names, with the port if
// it names none (0: it must). What cannot be read without doubt is refused.
func ParseTarget(text string, port uint16) (hosts.Target, *Refusal) {
	t, err := hosts.ParseTarget(text, port)
	if err != nil {
		return hosts.Target{}, &Refusal{plain.LineMax(text, maxTarget), "aibox: " + explain(err)}
	}
	return t, nil
}

// Decide says by the name or literal address alone whether the list allows the
// target; nothing has been resolved yet.
func Decide(list hosts.List, t hosts.Target) (hosts.Entry, *Refusal) {
	if e, ok := list.Match(t); ok {
		return e, nil
	}
	text := "aibox: " + t.String() + " is not allowed; to allow it " + toAllow
	e, err := t.Entry()
	if err != nil {
		return hosts.Entry{}, &Refusal{t.String(), "aibox: " + t.String() + " is not allowed: " + explain(err)}
	}
	return hosts.Entry{}, &Refusal{t.String(), text + e.Line()}
}

// DecideAddrs says whether an allowed name may be dialed at all of the
// addresses it resolves to: each is on the public internet and is none of own, which are
// the host's own, or the list names that very address. One that is not refuses
// the name, so that a mixed answer cannot be used to probe.
func DecideAddrs(list hosts.List, own []netip.Addr, t hosts.Target, addrs []netip.Addr) *Refusal {
	for _, a := range addrs {
		class, private := hosts.Private(a)
		if a = a.Unmap(); !private && slices.Contains(own, a) {
			class, private = "own", true
		}
		if !private || list.HasAddress(a, t.Port) {
			continue
		}
		text := "aibox: " + t.String() + " resolves to " + a.String() + ", an address of the host's own networks (" + class + "); "
		e, err := hosts.Target{Addr: a, Port: t.Port}.Entry()
		if err != nil {
			return &Refusal{t.String(), text + "it cannot be allowed: " + explain(err)}
		}
		return &Refusal{t.String(), text + "to allow that address " + toAllow + e.Line()}
	}
	return nil
}

// explain is an error of package hosts as one printable line.
func explain(err error) string {
	text := err.Error()
	if e := (*hosts.Error)(nil); errors.As(err, &e) && e.Hint != "" {
		text += "; " + e.Hint
	}
	return plain.LineMax(text, maxReason)
}

// Failure is a connection that was allowed and did not come about. Its text
// holds nothing of the host's networks, such as name servers.
type Failure struct {
	Status int    // of HTTP
	Text   string // one printable line
}

func (f *Failure) Error() string { return f.Text }
