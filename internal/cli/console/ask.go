package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"aibox/internal/fault"
)

// maxAnswer bounds a line that is read as an answer, in bytes.
const maxAnswer = 1000

// Confirm asks for a yes or no on the terminal. An empty line means no unless
// yesIsDefault. Without a terminal it is an error that names --yes.
func (c Console) Confirm(ctx context.Context, yesIsDefault bool, format string, args ...any) (bool, error) {
	if !IsTerminal(c.In) {
		return false, fault.New(fault.Usage, "add --yes to go on without the question", "there is no terminal to ask on")
	}
	choices := "[y/N]"
	if yesIsDefault {
		choices = "[Y/n]"
	}
	for {
		fmt.Fprintf(c.Err, format+" %s ", append(args, choices)...)
		line, err := c.readLine(ctx)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "":
			return yesIsDefault, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// readLine reads a line of the terminal. It returns at once when ctx is done;
// the reading that goes on then ends with the process.
func (c Console) readLine(ctx context.Context) (string, error) {
	type answer struct {
		line string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(c.In, maxAnswer)).ReadString('\n')
		done <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.Err)
		return "", ctx.Err()
	case got := <-done:
		if got.err != nil {
			fmt.Fprintln(c.Err)
			return "", fault.New(fault.Failed, "", "no answer was given")
		}
		return got.line, nil
	}
}
