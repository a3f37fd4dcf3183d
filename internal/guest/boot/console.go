package boot

import (
	"io"

	"aibox/internal/wire"
)

// report tells the host why a boot ended: over the control stream if there is
// one, and by one line on the console in any case.
func report(f failure, control, console io.Writer) {
	_, _ = io.WriteString(console, failLine(f))
	if control == nil {
		return
	}
	_ = wire.WriteMessage(control, wire.ToHost{Failed: &wire.Failed{
		Step: f.step, Reason: oneLine(f.err.Error()),
	}}, wire.MaxToHost)
}

// noteLine is a line of the console that is no failure.
func noteLine(line string) string { return "aibox: " + oneLine(line) + "\n" }
