package task

import (
	"testing"
	"time"

	"aibox/internal/fault"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "7d": 7 * 24 * time.Hour, "0": 0, "1h30m": 90 * time.Minute, "0d": 0} {
		if got, err := ParseDuration(text); got != want || err != nil {
			t.Errorf("%q = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "1", "d", "-1d", "-5m", "1.5d", "99999999999d", "1w"} {
		if got, err := ParseDuration(text); err == nil || got != 0 {
			t.Errorf("%q = %v, want an error", text, got)
		}
	}
}

func TestLimits(t *testing.T) {
	good := Limits{Timeout: time.Hour, Model: "claude-opus-4[1m]", MaxTurns: 5, MaxBudgetUSD: 1.5}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Limits){
		"no time":   func(l *Limits) { l.Timeout = 0 },
		"a past":    func(l *Limits) { l.Timeout = -time.Hour },
		"31 days":   func(l *Limits) { l.Timeout = 31 * 24 * time.Hour },
		"a shell":   func(l *Limits) { l.Model = "x; reboot" },
		"a flag":    func(l *Limits) { l.Model = "--x" },
		"turns":     func(l *Limits) { l.MaxTurns = -1 },
		"budget":    func(l *Limits) { l.MaxBudgetUSD = -0.1 },
		"fantastic": func(l *Limits) { l.MaxBudgetUSD = 1e300 },
	} {
		l := good
		change(&l)
		if err := l.Check(); err == nil || fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
