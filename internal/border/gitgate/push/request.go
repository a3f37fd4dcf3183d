package push

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"aibox/internal/border/gitgate/pktline"
)

// Command asks the server to move one ref from one object to another. Its ids
// are lower-case hexadecimal digits, 40 or 64.
type Command struct {
	Old, New, Ref string
}

func (c Command) creates() bool { return zero(c.Old) }
func (c Command) deletes() bool { return zero(c.New) }

func zero(id string) bool { return strings.Trim(id, "0") == "" }

// Request is what a push asks for before its pack.
type Request struct {
	Commands []Command // one at least, unless Refusal is set
	// Refusal says why the push is refused whatever its refs are.
	Refusal string

	caps capabilities
}

type capabilities struct {
	report, reportV2, sideBand, atomic, ofsDelta, quiet bool
	options                                             bool
	format                                              string // sha1, sha256, or empty
}

// ErrFlush says that the request is the lone flush by which git finds out
// whether a server takes its requests. It has no commands.
var ErrFlush = errors.New("push of nothing")

// reader keeps count of what it read.
type reader struct {
	pkt  *pktline.Reader
	left int
}

func (r *reader) next() (pktline.Packet, error) {
	p, err := r.pkt.Next()
	if r.left -= len(p.Payload) + 4; err == nil && r.left < 0 {
		err = errors.New("too many commands")
	}
	return p, err
}

// Read reads the commands up to the flush packet before the pack, and not one
// byte of the pack. A request that git would not send is an error, and the
// Request is then empty; one that is understood and not wanted has a Refusal.
func Read(r io.Reader) (Request, error) {
	req, err := read(&reader{pktline.NewReader(r), maxHeader})
	switch {
	case errors.Is(err, ErrFlush):
		return Request{}, err
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Request{}, fmt.Errorf("read push: %w", err)
	}
	return req, nil
}

func read(r *reader) (req Request, err error) {
	for first := true; ; {
		p, err := r.next()
		switch {
		case err != nil:
			return req, err
		case p.Kind == pktline.Flush && first:
			return req, flushed(req)
		case p.Kind == pktline.Flush:
			return req, req.check()
		case p.Kind != pktline.Data:
			return req, fmt.Errorf("a %s packet among the commands", p.Kind)
		}
		line := string(p.Payload)
		if first && strings.HasPrefix(line, "shallow ") {
			if err := shallow(line); err != nil {
				return req, err
			}
			req.Refusal = "a push from a shallow clone is not passed on; fetch the history first: git fetch --unshallow"
			continue
		}
		if first {
			first = false
			text, caps, found := strings.Cut(line, "\x00")
			if !found {
				return req, errors.New("the first command has no capabilities")
			}
			if req.caps, err = readCapabilities(caps); err != nil {
				return req, err
			}
			if text == "push-cert" {
				return readCertificate(r, req)
			}
			line = text
		}
		if err := req.add(line); err != nil {
			return req, err
		}
	}
}

func flushed(req Request) error {
	if req.Refusal != "" {
		return errors.New("no command")
	}
	return ErrFlush
}

// readCertificate reads a signed push to its end, for the refs to report on.
func readCertificate(r *reader, req Request) (Request, error) {
	req.Refusal = "a signed push is not passed on; push without --signed"
	for {
		p, err := r.next()
		if err != nil {
			return req, err
		}
		if p.Kind == pktline.Flush {
			return req, nil
		}
		if c, err := parseCommand(string(p.Payload)); err == nil && len(req.Commands) < MaxCommands {
			req.Commands = append(req.Commands, c)
		}
	}
}

func shallow(line string) error {
	if id := strings.TrimSuffix(strings.TrimPrefix(line, "shallow "), "\n"); !isID(id) {
		return errors.New("malformed shallow line")
	}
	return nil
}

// add takes one command. Past the limit the rest is only read.
func (req *Request) add(line string) error {
	c, err := parseCommand(line)
	if err != nil {
		return err
	}
	if len(req.Commands) == MaxCommands {
		req.Refusal = fmt.Sprintf("a push of more than %d refs is not passed on; push fewer at once", MaxCommands)
		return nil
	}
	req.Commands = append(req.Commands, c)
	return nil
}

// check looks at what only the whole list shows.
func (req *Request) check() error {
	seen := map[string]bool{}
	for _, c := range req.Commands {
		switch {
		case seen[c.Ref]:
			return errors.New("one ref twice")
		case len(c.Old) != len(c.New) || len(c.New) != req.caps.idLength():
			return errors.New("ids of another length than the object format's")
		}
		seen[c.Ref] = true
	}
	if req.caps.options {
		req.Refusal = "push options are not passed on; push without -o"
	}
	return nil
}

func parseCommand(line string) (Command, error) {
	parts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	if len(parts) != 3 || !isID(parts[0]) || !isID(parts[1]) {
		return Command{}, errors.New("malformed command")
	}
	ref := parts[2]
	if ref == "" || len(ref) > maxRef || strings.ContainsFunc(ref, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return Command{}, errors.New("malformed ref in a command")
	}
	return Command{parts[0], parts[1], ref}, nil
}

func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
