package results

import (
	"encoding/json"
	"errors"
	"strings"

	"aibox/internal/plain"
	"aibox/internal/wire"
)

// Claim is what the VM says about its task: texts are printable and of bounded
// length, numbers are neither negative nor huge. Nothing of it is known to be true.
type Claim struct {
	Outcome     string  `json:"outcome"` // one of wire's
	Reason      string  `json:"reason,omitempty"`
	Turns       int     `json:"turns"`
	CostUSD     float64 `json:"cost_usd"`
	Seconds     float64 `json:"seconds"`                // of Claude Code
	Before      float64 `json:"seconds_before"`         // until the project was there
	After       float64 `json:"seconds_after"`          // until the bundle was there
	LastMessage string  `json:"last_message,omitempty"` // lines, each printable
	Leftover    bool    `json:"leftover"`
	Squashed    bool    `json:"squashed"`
	Trouble     string  `json:"trouble,omitempty"`
}

func parseClaim(text []byte) (Claim, error) {
	var r wire.TaskResult
	if err := json.Unmarshal(text, &r); err != nil {
		return Claim{}, errors.New("it is not the JSON of a result")
	}
	switch r.Outcome {
	case wire.OutcomeFinished, wire.OutcomeTimeout, wire.OutcomeStopped, wire.OutcomeFailed:
	default:
		return Claim{}, errors.New("it names no outcome that exists")
	}
	return Claim{
		Outcome: r.Outcome, Reason: plain.LineMax(r.Reason, maxReason),
		Turns:   int(min(max(r.Turns, 0), maxNumber)),
		CostUSD: bounded(r.CostUSD), Seconds: bounded(r.Seconds), Before: bounded(r.Before), After: bounded(r.After),
		LastMessage: message(r.LastMessage),
		Leftover:    r.Leftover, Squashed: r.Squashed, Trouble: plain.LineMax(r.Trouble, maxReason),
	}, nil
}

// bounded also turns what is no number into 0.
func bounded(f float64) float64 {
	if f > 0 && f <= maxNumber {
		return f
	}
	return 0
}

// message keeps line ends and makes each line printable.
func message(text string) string {
	var kept []string
	left := MaxMessage
	for line := range strings.Lines(text) {
		line = plain.LineMax(strings.TrimRight(line, "\r\n"), min(left, plain.MaxLine))
		kept = append(kept, line)
		if left -= len(line) + 1; left <= 0 {
			break
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
