package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"aibox/internal/guest/session"
)

// step is one command of the user.
type step struct {
	name  string // what errors call it
	line  string
	env   []string // after the session's
	input string   // file of the input; none by default
	out   io.Writer
	err   io.Writer
	// asked is closed to have the step end before its time.
	asked <-chan struct{}
}

// Why a step was ended.
var (
	errLate  = errors.New("its time is over")
	errAsked = errors.New("the user asked for the end")
)

// run runs a step to its end, at most for limit. Whatever it started is gone
// when run returns. An exit code other than 0 is an error, as are errLate
// and errAsked.
func (j *job) run(ctx context.Context, s step, limit time.Duration) error {
	last := &said{}
	p, drained, err := j.start(s, last)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	why := watch(ctx, s, p, limit)
	p.Close()
	drained()
	code, signal := p.Exit()
	switch {
	case why != nil:
		return fmt.Errorf("%s: %w", s.name, why)
	case signal != "":
		return fmt.Errorf("%s: ended by signal %s", s.name, signal)
	case code != 0:
		return fmt.Errorf("%s: exit code %d%s", s.name, code, last.line())
	}
	return nil
}

// watch waits for the process and ends it when its time has come.
func watch(ctx context.Context, s step, p session.Process, limit time.Duration) (why error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		why = errLate
	case <-s.asked:
		why = errAsked
	}
	p.Signal("TERM")
	grace := time.NewTimer(termGrace)
	defer grace.Stop()
	select {
	case <-p.Done():
	case <-grace.C:
	case <-ctx.Done():
	}
	return why
}

// start starts a step. The returned function waits for the end of its output,
// which comes once its processes are gone.
func (j *job) start(s step, last *said) (session.Process, func(), error) {
	input := s.input
	if input == "" {
		input = os.DevNull
	}
	in, err := os.Open(input)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	var pumps sync.WaitGroup
	outW, err := pump(&pumps, s.out)
	if err != nil {
		return nil, nil, err
	}
	defer outW.Close()
	errs := io.Writer(last)
	if s.err != nil {
		errs = io.MultiWriter(last, s.err)
	}
	errW, err := pump(&pumps, errs)
	if err != nil {
		return nil, nil, err
	}
	defer errW.Close()
	p, err := j.Launcher.Launch(session.Command{
		Line: s.line, Env: append(append([]string{}, j.env...), s.env...), Stdio: [3]*os.File{in, outW, errW},
	})
	if err != nil {
		return nil, nil, err
	}
	return p, pumps.Wait, nil
}

// pump returns a pipe's end whose bytes go to w, which must not fail, or nowhere.
func pump(pumps *sync.WaitGroup, w io.Writer) (*os.File, error) {
	r, child, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	if w == nil {
		w = io.Discard
	}
	pumps.Go(func() {
		defer r.Close()
		if _, err := io.Copy(w, r); err != nil {
			_, _ = io.Copy(io.Discard, r)
		}
	})
	return child, nil
}
