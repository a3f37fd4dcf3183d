package console

import (
	"io"

	"aibox/internal/fault"
)

// Output is stdout. It keeps the first error: a full disk behind a redirection
// must not look like success.
type Output struct {
	To  io.Writer
	err error
}

// Write passes b on.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.To.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// Err says that something could not be written.
func (o *Output) Err() error {
	if o.err == nil {
		return nil
	}
	return fault.New(fault.Failed, "", "cannot write the output: %w", o.err)
}
