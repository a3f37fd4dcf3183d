package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/plain"

	"golang.org/x/term"
)

// report prints an error for people: one line, or one for each mistake of a
// config, each with its hint.
func (a *app) report(err error) {
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			a.tell(m.Error(), m.Hint)
		}
		return
	}
	if err == context.Canceled {
		a.tell("interrupted", "")
		return
	}
	a.tell(err.Error(), fault.HintOf(err))
}

// note prints a line that is no error.
func (a *app) note(format string, args ...any) { a.tell(fmt.Sprintf(format, args...), "") }

// tell prints the two lines. Whatever the text holds, it stays one line and
// moves no cursor.
func (a *app) tell(text, hint string) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
	fmt.Fprintf(a.std.Err, "%s %s\n", a.paint(bold, "aibox:"), plain.Line(text))
	if hint != "" {
		fmt.Fprintf(a.std.Err, "%s %s\n", a.paint(bold, "hint:"), plain.Line(hint))
	}
}

const bold = "1"

func (a *app) paint(style, text string) string {
	noColor, _ := a.machine.lookup("NO_COLOR")
	terminal, _ := a.machine.lookup("TERM")
	if noColor != "" || terminal == "dumb" || !isTerminal(a.std.Err) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
