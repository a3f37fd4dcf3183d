// Package readlog reads back the log that egress writes of a run. aibox wrote
// it, but the names in it are the VM's.
package readlog

import (
	"bufio"
	"io"
	"strings"
)

// Limits of reading a log back.
const (
	maxLog   = 4 << 20 // bytes of the log
	maxLine  = 8 << 10
	maxHosts = 1000
)

// Refused returns the hosts that a log says were refused, as
// host:port, each once and in order. The VM chose the names: they are text to be
// checked and no more. A line of another form is passed over.
func Refused(log io.Reader) []string {
	var found []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(io.LimitReader(log, maxLog))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		_, event, _ := strings.Cut(lines.Text(), " ")
		rest, isRefusal := strings.CutPrefix(event, "refused ")
		target, _, whole := strings.Cut(rest, ": ")
		if isRefusal && whole && target != "" && !strings.Contains(target, " ") && !seen[target] && len(found) < maxHosts {
			seen[target] = true
			found = append(found, target)
		}
	}
	return found
}
