package claude

import (
	"bytes"
	"encoding/json"
)

// Reader is an io.Writer that calls Take for each event, in order. A line that is
// no event is dropped. The zero value with Take and MaxLine is ready for use, by
// one goroutine at a time.
type Reader struct {
	Take func(Event)
	// MaxLine bounds a line in bytes, and with it what the Reader holds. A longer
	// one is dropped.
	MaxLine int

	line []byte
	skip bool // the line is too long, its rest is dropped
}

// Write never fails, so that no output can end who copies it.
func (r *Reader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if r.skip = r.skip || len(r.line)+len(part) > r.MaxLine; !r.skip {
			r.line = append(r.line, part...)
		}
		if ended {
			r.take()
			r.line, r.skip = r.line[:0], false
		}
	}
	return len(p), nil
}

func (r *Reader) take() {
	var e Event
	if !r.skip && json.Unmarshal(r.line, &e) == nil {
		r.Take(e)
	}
}
