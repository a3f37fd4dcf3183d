package task

import (
	"math"
	"strconv"
	"strings"
	"time"

	"aibox/internal/fault"
)

// ParseDuration reads a time such as "90m", "1h30m" or "7d".
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > 36500 {
			return 0, fault.New(fault.Usage, "write 90m, 12h or 7d", "%q is no time", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fault.New(fault.Usage, "write 90m, 12h or 7d", "%q is no time", text)
	}
	return d, nil
}

// Limits are the flags that bound Claude Code's work.
type Limits struct {
	Timeout      time.Duration
	Model        string
	MaxTurns     int     // 0 for no limit
	MaxBudgetUSD float64 // 0 for no limit
}

// Check says which limit is none, as an error of kind fault.Usage.
func (l Limits) Check() error {
	switch {
	case l.Timeout < time.Second:
		return fault.New(fault.Usage, "such as --timeout 90m", "--timeout is %v, but must be one second or more", l.Timeout)
	case l.Timeout > MaxTimeout:
		return fault.New(fault.Usage, "such as --timeout 12h", "--timeout is %v, but must be 30 days (720h) at most", l.Timeout)
	case l.MaxTurns < 0 || l.MaxTurns > maxTurns:
		return fault.New(fault.Usage, "such as --max-turns 50", "--max-turns is %d, but must be 1 to %d", l.MaxTurns, maxTurns)
	case math.IsNaN(l.MaxBudgetUSD) || l.MaxBudgetUSD < 0 || l.MaxBudgetUSD > maxBudget:
		return fault.New(fault.Usage, "such as --max-budget-usd 5", "--max-budget-usd is %v, but must be above 0 and at most %.0f", l.MaxBudgetUSD, float64(maxBudget))
	case !validModel(l.Model):
		return fault.New(fault.Usage, "such as --model sonnet", "--model %q is no name of a model", l.Model)
	}
	return nil
}

// validModel is what the names and aliases of models are made of.
func validModel(name string) bool {
	for _, c := range []byte(name) {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && !strings.ContainsRune("-._:/@[]", rune(c)) {
			return false
		}
	}
	return len(name) <= maxModel && !strings.HasPrefix(name, "-")
}
