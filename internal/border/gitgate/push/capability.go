package push

import (
	"errors"
	"strings"

	"aibox/internal/border/gitgate/pktline"
)

// readCapabilities takes what the client chose of the server's offer. What is
// not known here is dropped: it is not passed on, so it changes nothing.
func readCapabilities(text string) (c capabilities, err error) {
	if strings.Contains(text, "\x00") {
		return c, errors.New("two lists of capabilities")
	}
	for name := range strings.FieldsSeq(text) {
		switch name {
		case "report-status":
			c.report = true
		case "report-status-v2":
			c.reportV2 = true
		case "side-band-64k":
			c.sideBand = true
		case "atomic":
			c.atomic = true
		case "ofs-delta":
			c.ofsDelta = true
		case "quiet":
			c.quiet = true
		case "push-options":
			c.options = true
		}
		if format, ok := strings.CutPrefix(name, "object-format="); ok {
			if format != "sha1" && format != "sha256" {
				return c, errors.New("an unknown object format")
			}
			c.format = format
		}
	}
	return c, nil
}

func (c capabilities) idLength() int {
	if c.format == "sha256" {
		return 64
	}
	return 40
}

func (c capabilities) String() string {
	var list []string
	for _, named := range []struct {
		on   bool
		name string
	}{
		{c.report, "report-status"}, {c.reportV2, "report-status-v2"}, {c.sideBand, "side-band-64k"},
		{c.atomic, "atomic"}, {c.ofsDelta, "ofs-delta"}, {c.quiet, "quiet"}, {c.format != "", "object-format=" + c.format},
	} {
		if named.on {
			list = append(list, named.name)
		}
	}
	return strings.Join(append(list, "agent=git/aibox"), " ")
}

// Encode writes the request for the server, up to and with the flush packet
// before the pack.
func (req Request) Encode() []byte {
	var b []byte
	for i, c := range req.Commands {
		line := c.Old + " " + c.New + " " + c.Ref
		if i == 0 {
			line += "\x00 " + req.caps.String()
		}
		b = pktline.AppendString(b, line)
	}
	return pktline.AppendFlush(b)
}

// FilterOffer takes from a server's first line for a push the capabilities
// that are never passed on, so that git tells its user at once, or does without
// where the user asked for them only if they are there.
func FilterOffer(line string) string {
	ref, offer, found := strings.Cut(line, "\x00")
	if !found {
		return line
	}
	var kept []string
	for name := range strings.FieldsSeq(offer) {
		if name != "push-options" && !strings.HasPrefix(name, "push-cert=") {
			kept = append(kept, name)
		}
	}
	filtered := ref + "\x00" + strings.Join(kept, " ")
	if strings.HasSuffix(line, "\n") { // else a full packet would become too long
		filtered += "\n"
	}
	return filtered
}
