package cli

import (
	"strings"

	"aibox/internal/cli/exit"
	"aibox/internal/fault"
	"aibox/internal/plain"
)

// maxSaid is how much of a copy's stderr is kept, in bytes.
const maxSaid = 16 << 10

// lastLines keeps the end of what a copy of aibox wrote to stderr. The program
// in the VM writes there too, so nothing in it is believed: a wrong line leads to a
// wrong message and no more.
type lastLines struct{ text []byte }

// Write never fails.
func (l *lastLines) Write(b []byte) (int, error) {
	l.text = append(l.text, b...)
	if len(l.text) > 2*maxSaid {
		l.text = append([]byte(nil), l.text[len(l.text)-maxSaid:]...)
	}
	return len(b), nil
}

// failure returns the error with which a copy ended, nil when the exit code is
// none of aibox's own or is one that programs often end with.
func (l *lastLines) failure(ended int) error {
	for kind, code := range exit.Codes() {
		if code != ended || kind == fault.Failed {
			continue
		}
		text, hint := "a copy of aibox failed", ""
		for line := range strings.Lines(string(l.text)) {
			line = strings.TrimSuffix(line, "\n")
			if rest, ok := strings.CutPrefix(line, "aibox: "); ok {
				text, hint = rest, ""
			} else if rest, ok := strings.CutPrefix(line, "hint: "); ok {
				hint = rest
			}
		}
		return fault.New(kind, plain.Line(hint), "%s", plain.Line(text))
	}
	return nil
}

// timings returns the lines of --timings.
func (l *lastLines) timings() []string {
	var found []string
	for line := range strings.Lines(string(l.text)) {
		number, _, ok := strings.Cut(strings.TrimSpace(line), " ms ")
		if ok && number != "" && strings.Trim(number, "0123456789.") == "" {
			found = append(found, plain.Line(strings.TrimSuffix(line, "\n")))
		}
	}
	return found
}
