// Package fault carries what a user needs beside an error's text: which kind
// of failure it is, which decides the exit code, and a hint with the command
// or config line to use.
package fault

import (
	"errors"
	"fmt"
)

// Kind is a kind of failure. Package cli maps each to an exit code.
type Kind int

// The kinds of failure.
const (
	Failed  Kind = iota // the work itself failed
	Usage               // the command line is wrong
	Config              // the project's config is wrong
	Machine             // the machine lacks something aibox needs
	Refused             // refused for the user's safety
)

// Error is an error with a kind and a hint.
type Error struct {
	Kind Kind
	Hint string // without the word "hint"; may be empty
	Err  error
}

// New returns an error of the kind whose text is formatted as by fmt.Errorf.
func New(kind Kind, hint, format string, args ...any) error {
	return &Error{Kind: kind, Hint: hint, Err: fmt.Errorf(format, args...)}
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that e carries.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost Error in err's chain, Failed for none.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return Failed
}

// HintOf returns the first hint in err's chain.
func HintOf(err error) string {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Hint != "" {
			return e.Hint
		}
	}
	return ""
}
