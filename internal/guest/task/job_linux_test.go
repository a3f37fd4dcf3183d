package task

import (
	"encoding/json"
	"strings"
	"testing"

	"aibox/internal/wire"
	"aibox/internal/wire/claude"
)

// Whatever was said, the host takes the result: it refuses one that is too long.
func TestResultFitsItsLimit(t *testing.T) {
	for _, char := range []string{"\x01", "<", "\xff", "\u2028", "x"} {
		said := strings.Repeat(char, 1<<20)
		j := &job{result: wire.TaskResult{
			Outcome: wire.OutcomeFailed, Reason: cutText(said, maxReason), Trouble: cutText(said, maxReason),
			Seconds: 1e-9, Before: 123456.123456789, After: 123456.123456789, Tip: strings.Repeat("f", 64), Leftover: true, Squashed: true,
		}}
		j.take(&progress{text: said, result: &claude.Event{Turns: 1 << 62, CostUSD: 1e300, Result: said}})
		text, err := json.Marshal(j.result)
		if err != nil || len(text) > wire.MaxResult {
			t.Errorf("%q: %d bytes, %v, want at most %d", char, len(text), err, wire.MaxResult)
		}
	}
}
