package egress

import (
	"bufio"
	"io"
	"strings"
)

// Limits of reading a log back.
const (
	maxReadLog  = 4 << 20 // bytes of the log
	maxReadLine = 8 << 10
)

// RefusedIn returns the hosts that a Recorder's log says were refused, as
// host:port, each once and in order. The VM chose the names: they are text to be
// checked and no more. A line that no Recorder writes is passed over.
func RefusedIn(log io.Reader) []string {
	var found []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(io.LimitReader(log, maxReadLog))
	lines.Buffer(nil, maxReadLine)
	for lines.Scan() {
		_, event, _ := strings.Cut(lines.Text(), " ")
		rest, isRefusal := strings.CutPrefix(event, refused.String()+" ")
		target, _, whole := strings.Cut(rest, ": ")
		if isRefusal && whole && target != "" && !strings.Contains(target, " ") && !seen[target] && len(found) < maxLogged {
			seen[target] = true
			found = append(found, target)
		}
	}
	return found
}
