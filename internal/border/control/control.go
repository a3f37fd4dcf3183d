package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"aibox/internal/plain"
	"aibox/internal/wire"
)

// Step is one boot step and how long the VM says it took.
type Step struct {
	Name string // one printable line
	Took time.Duration
}

// FailedError says that the VM reported a failed boot step.
type FailedError struct {
	Step   string // one printable line
	Reason string // one printable line
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("the VM could not boot: %s: %s", e.Step, e.Reason)
}

// Control is the control stream of a VM that booted.
type Control struct {
	conn  net.Conn
	steps []Step
	done  chan struct{}

	shutdown    sync.Once
	shutdownErr error

	mu  sync.Mutex
	err error
}

// Start sends boot over conn and waits for the VM's answer until ctx ends. A
// boot that failed is a *FailedError. On error conn is closed, else it belongs
// to the Control.
func Start(ctx context.Context, conn net.Conn, boot wire.Boot) (*Control, error) {
	// Closing also frees a Write that a VM which reads nothing holds up.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	steps, err := exchange(conn, boot)
	if !stop() {
		return nil, fmt.Errorf("wait for the VM to boot: %w", context.Cause(ctx))
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	c := &Control{conn: conn, steps: steps, done: make(chan struct{})}
	go c.watch()
	return c, nil
}

func exchange(conn net.Conn, boot wire.Boot) ([]Step, error) {
	if err := wire.WriteMessage(conn, wire.ToGuest{Boot: &boot}, wire.MaxToGuest); err != nil {
		return nil, fmt.Errorf("send the boot message to the VM: %w", err)
	}
	var answer wire.ToHost
	if err := wire.ReadMessage(conn, &answer, wire.MaxToHost); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		// The text of a JSON error may quote the VM.
		return nil, fmt.Errorf("read the VM's answer to the boot message: %w", plainError{err})
	}
	return judge(answer)
}

// judge is pure: it turns the VM's answer into steps or an error.
func judge(m wire.ToHost) ([]Step, error) {
	switch {
	case m.Ready != nil && m.Failed == nil:
		return cleanSteps(m.Ready.Steps), nil
	case m.Failed != nil && m.Ready == nil:
		return nil, &FailedError{
			Step:   plain.LineMax(m.Failed.Step, MaxStepName),
			Reason: plain.LineMax(m.Failed.Reason, MaxReason),
		}
	}
	return nil, errors.New("the VM answered the boot message with neither ready nor failed")
}

func cleanSteps(raw []wire.Step) []Step {
	raw = raw[:min(len(raw), MaxSteps)]
	steps := make([]Step, 0, len(raw))
	for _, s := range raw {
		micros := min(max(s.Micros, 0), MaxStepTime.Microseconds())
		steps = append(steps, Step{
			Name: plain.LineMax(s.Name, MaxStepName),
			Took: time.Duration(micros) * time.Microsecond,
		})
	}
	return steps
}

// watch waits for the end of the stream, the only thing that may still come.
func (c *Control) watch() {
	defer close(c.done)
	n, err := c.conn.Read(make([]byte, 1))
	_ = c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case n > 0:
		c.err = errors.New("the VM sent a second message on the control stream")
	case err != io.EOF && !errors.Is(err, net.ErrClosed):
		c.err = fmt.Errorf("control stream: %w", err)
	}
}

// Steps are the VM's boot steps in order, at most MaxSteps.
func (c *Control) Steps() []Step { return c.steps }

// Shutdown asks the VM to power off. It is sent once; later calls return the
// first one's error. It takes at most SendTimeout and does not wait for the VM.
func (c *Control) Shutdown() error {
	c.shutdown.Do(func() {
		sent := make(chan error, 1)
		go func() { // a VM that reads nothing may ignore deadlines
			sent <- wire.WriteMessage(c.conn, wire.ToGuest{Shutdown: &wire.Shutdown{}}, wire.MaxToGuest)
		}()
		timer := time.NewTimer(SendTimeout)
		defer timer.Stop()
		select {
		case err := <-sent:
			c.shutdownErr = err
		case <-timer.C:
			_ = c.conn.Close()
			c.shutdownErr = context.DeadlineExceeded
		}
		if c.shutdownErr != nil {
			c.shutdownErr = fmt.Errorf("ask the VM to power off: %w", c.shutdownErr)
		}
	})
	return c.shutdownErr
}

// Done is closed when the stream has ended, by either side.
func (c *Control) Done() <-chan struct{} { return c.done }

// Err is nil if the VM or Close ended the stream, else the VM's protocol error
// or the connection's. It is valid once Done is closed.
func (c *Control) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the stream. An honest VM powers off then.
func (c *Control) Close() { _ = c.conn.Close() }

// plainError shows its error as one printable line.
type plainError struct{ error }

func (e plainError) Error() string { return plain.LineMax(e.error.Error(), MaxReason) }
func (e plainError) Unwrap() error { return e.error }
