package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"aibox/internal/border/terminal/tty"
)

// serve moves bytes until the session ends.
func (s *session) serve(ctx context.Context) (int, error) {
	failed := make(chan error, 3) // room for all that send
	stopInput, err := s.startInput(failed)
	if err != nil {
		return 0, err
	}
	defer stopInput()
	if s.tty != nil {
		defer s.tty.WatchSize(s.asked, s.resized)()
	}
	out := s.startOutput(failed)

	var grace <-chan time.Time
	for told := s.exit.told; ; {
		select {
		case <-told:
			told = nil
			grace = time.After(CloseGrace)
			continue
		case <-grace:
		case <-s.exit.over:
		case err = <-failed:
		}
		return s.finish(ctx, err, out)
	}
}

// finish waits for the last output and says how the session ended.
func (s *session) finish(ctx context.Context, broken error, out *output) (int, error) {
	_ = s.conn.Close()
	code, told := s.exit.result()
	// A slow terminal gets all output of a good end, but a bad one must not
	// hang on a terminal that takes nothing.
	if broken != nil || !told {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, FlushGrace)
		defer cancel()
	}
	select {
	case <-out.done:
		if broken == nil {
			broken = out.error()
		}
	case <-ctx.Done():
		if broken == nil {
			broken = ctx.Err()
		}
	}
	switch {
	case !told && (broken == nil || errors.Is(broken, context.DeadlineExceeded)):
		return 0, fmt.Errorf("%w before the command ended", ErrLost)
	case broken != nil:
		return 0, broken
	}
	return code, nil
}

// output is what the pumps for stdout and stderr share.
type output struct {
	done chan struct{} // closed when both have ended
	mu   sync.Mutex
	err  error
}

func (o *output) error() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (s *session) startOutput(failed chan<- error) *output {
	o := &output{done: make(chan struct{})}
	var pumps sync.WaitGroup
	start := func(r io.Reader, w io.Writer) {
		pumps.Go(func() {
			if err := caught(func() error { return s.pump(r, w) }); err != nil {
				o.mu.Lock()
				o.err = err
				o.mu.Unlock()
				failed <- err
			}
		})
	}
	if s.tty != nil {
		start(s.channel, s.tty)
		start(s.channel.Stderr(), s.tty)
	} else {
		start(s.channel, orDiscard(s.Stdout))
		start(s.channel.Stderr(), orDiscard(s.Stderr))
	}
	go func() {
		pumps.Wait()
		close(o.done)
	}()
	return o
}

// pump writes what r gives until its end. A read error beside data comes from
// a connection that has just ended, whose buffered data is still good.
func (s *session) pump(r io.Reader, w io.Writer) error {
	b := make([]byte, outputSize)
	for {
		n, err := r.Read(b)
		if n == 0 && err != nil {
			return nil
		}
		if err := s.conn.during(func() error { _, err := w.Write(b[:n]); return err }); err != nil {
			return fmt.Errorf("write the session's output: %w", err)
		}
	}
}

// startInput passes Stdin on until it ends or stop is called.
func (s *session) startInput(failed chan<- error) (stop func(), err error) {
	if s.Stdin == nil {
		go func() { _ = s.channel.CloseWrite() }()
		return func() {}, nil
	}
	if s.tty == nil {
		go s.feedUntil(failed, s.Stdin, nil)
		return func() {}, nil
	}
	in, stopIn, err := s.tty.Input()
	if err != nil {
		return nil, fmt.Errorf("read the terminal: %w", err)
	}
	ended := make(chan struct{})
	go s.feedUntil(failed, in, ended)
	return func() {
		stopIn()
		select {
		case <-ended:
		case <-time.After(FlushGrace): // it waits for a link that takes nothing
		}
	}, nil
}

func (s *session) feedUntil(failed chan<- error, in io.Reader, ended chan<- struct{}) {
	if ended != nil {
		defer close(ended)
	}
	if err := caught(func() error { return s.feed(in) }); err != nil {
		failed <- err
	}
}

func (s *session) feed(in io.Reader) error {
	b := make([]byte, inputSize)
	for {
		n, err := in.Read(b)
		if n > 0 {
			if s.OnInput != nil {
				s.OnInput(b[:n])
			}
			if _, err := s.channel.Write(b[:n]); err != nil {
				return nil // the session is over, and its end is told elsewhere
			}
		}
		switch {
		case err == io.EOF:
			_ = s.channel.CloseWrite()
			return nil
		case errors.Is(err, tty.ErrStopped):
			return nil
		case err != nil:
			return fmt.Errorf("read the session's input: %w", err)
		}
	}
}

// resized tells the VM a new size. It may block with the link.
func (s *session) resized(z tty.Size) {
	_, _ = s.channel.SendRequest("window-change", false, ssh.Marshal(windowChange{Columns: z.Columns, Rows: z.Rows}))
}

// caught makes a panic an error, so that the terminal is restored.
func caught(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bug in the session: %v", p)
		}
	}()
	return f()
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}
