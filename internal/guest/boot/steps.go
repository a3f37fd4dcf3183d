package boot

import (
	"fmt"
	"strings"
	"time"

	"aibox/internal/wire"
)

// step is one line of the boot table.
type step struct {
	name string
	do   func() error
	must bool // a failure powers off; else it is a line on the console
}

// failure is the step that ended a boot.
type failure struct {
	step string
	err  error
}

// runSteps runs the steps in order until one that must work fails. A panic in
// a step is its error. It returns the time each step took.
func runSteps(steps []step, now func() time.Time, warn func(line string)) ([]wire.Step, *failure) {
	var took []wire.Step
	for _, s := range steps {
		start := now()
		err := safely(s.do)
		took = append(took, wire.Step{Name: s.name, Micros: now().Sub(start).Microseconds()})
		if err == nil {
			continue
		}
		if s.must {
			return took, &failure{s.name, err}
		}
		warn(s.name + ": " + oneLine(err.Error()))
	}
	return took, nil
}

func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bug: %v", p)
		}
	}()
	return do()
}

// maxReason is the longest reason that init reports, in bytes.
const maxReason = 500

// failLine is the console's line for a failure. It starts on a new line, since
// the kernel may have left one unfinished.
func failLine(f failure) string {
	return "\n" + wire.FailPrefix + f.step + ": " + oneLine(f.err.Error()) + "\n"
}

// oneLine makes an error's text one printable line of bounded length.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "")
	}
	return strings.TrimSpace(s)
}
