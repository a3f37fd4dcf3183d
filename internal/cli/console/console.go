// Package console talks with the user: errors and notes on stderr, one line
// each, and questions where there is a terminal. Whatever a text holds, it stays
// one line and moves no cursor.
package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/plain"

	"golang.org/x/term"
)

// Console is where the user is talked with.
type Console struct {
	In, Err *os.File
	Lookup  func(string) (string, bool) // os.LookupEnv
}

// Report prints an error: one line, or one for each mistake of a config, each
// with its hint. An error that is context.Canceled is told as an interrupt.
func (c Console) Report(err error) {
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			c.Tell(m.Error(), m.Hint)
		}
		return
	}
	if err == context.Canceled {
		c.Tell("interrupted", "")
		return
	}
	c.Tell(err.Error(), cmp.Or(fault.HintOf(err), limitHint(err)))
}

// limitHint is for errors that come from a limit of the system, wherever it is hit.
func limitHint(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "allow more open files: ulimit -n 4096"
	case errors.Is(err, syscall.EFBIG):
		return "allow larger files: ulimit -f unlimited"
	case errors.Is(err, syscall.ENOMEM):
		return "close other programs, this machine is short of memory"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space: df -h shows how full the disks are"
	}
	return ""
}

// Note prints a line that is no error.
func (c Console) Note(format string, args ...any) { c.Tell(fmt.Sprintf(format, args...), "") }

// Tell prints a line, and a hint below it unless that is empty.
func (c Console) Tell(text, hint string) {
	text = middle(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	fmt.Fprintf(c.Err, "%s %s\n", c.paint("aibox:"), plain.Line(text))
	if hint != "" {
		fmt.Fprintf(c.Err, "%s %s\n", c.paint("hint:"), plain.Line(middle(hint)))
	}
}

// middle leaves out the middle of a text that is longer than a line may be: a
// long path must not push out what is said of it.
func middle(text string) string {
	const mark = " […] "
	if len(text) <= plain.MaxLine {
		return text
	}
	keep := (plain.MaxLine - len(mark)) / 2
	return strings.ToValidUTF8(text[:keep], "") + mark + strings.ToValidUTF8(text[len(text)-keep:], "")
}

// paint makes the text bold where that is wanted.
func (c Console) paint(text string) string {
	noColor, _ := c.Lookup("NO_COLOR")
	terminal, _ := c.Lookup("TERM")
	if noColor != "" || terminal == "dumb" || !IsTerminal(c.Err) {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// IsTerminal tells whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
