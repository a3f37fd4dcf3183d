package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"aibox/internal/border/terminal"
	"aibox/internal/run/phases"
	"aibox/internal/wire"
)

// session runs the user's command to its end and returns its exit code.
func (b *box) session(ctx context.Context, command string) (int, error) {
	ctx, stop := b.untilBroken(ctx)
	defer stop()
	opened := time.Now()
	client, err := b.login(ctx)
	if err != nil {
		return 0, err
	}
	first := sync.OnceFunc(func() { b.times.Mark(phases.Session) })
	o := terminal.Options{
		Command: command, PTY: b.o.Terminal, Env: sessionEnv(os.LookupEnv),
		OnInput: b.services.Keys(),
		Stdin:   b.o.Stdin, Stdout: watched{b.o.Stdout, first}, Stderr: watched{b.o.sessionStderr(), first},
	}
	exit, err := client.Run(ctx, o)
	if err == nil && b.o.Terminal && !b.o.Shell {
		b.offerResume(ctx, time.Since(opened))
	}
	return exit, err
}

// startLogin logs in while init still boots; login waits for it.
func (b *box) startLogin(ctx context.Context) (login func(context.Context) (*terminal.Client, error)) {
	type result struct {
		client *terminal.Client
		err    error
	}
	got := make(chan result, 1)
	go func() {
		conn, err := b.link.Open(ctx, wire.ServiceSSH)
		if err != nil {
			got <- result{nil, fmt.Errorf("open the session: %w", err)}
			return
		}
		client, err := terminal.Login(ctx, conn, b.keys)
		got <- result{client, err}
	}()
	return func(ctx context.Context) (*terminal.Client, error) {
		select {
		case r := <-got:
			return r.client, r.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// untilBroken returns a context that also ends when the machine or its file
// server does: without them a boot waits for shares that never answer, and a
// session can hang for as long as its terminal takes nothing.
func (b *box) untilBroken(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-b.machine.Done():
			cancel(errors.New("the VM ended before the session did"))
		case <-b.files.Done():
			cancel(errors.New("the VM's file server ended before the session did"))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func (o Options) sessionStderr() io.Writer {
	if o.SessionStderr != nil {
		return o.SessionStderr
	}
	return o.Stderr
}

// watched calls first at the first byte written.
type watched struct {
	io.Writer
	first func()
}

func (w watched) Write(p []byte) (int, error) {
	w.first()
	return w.Writer.Write(p)
}

// terminalValue is the form of what the terminal's variables hold; the VM takes
// no terminal of another name.
var terminalValue = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// sessionEnv is what the terminal's programs have to know of it. Odd values are
// dropped, and a terminal without a name is a dumb one.
func sessionEnv(lookup func(string) (string, bool)) map[string]string {
	env := map[string]string{"TERM": "dumb"}
	for _, name := range []string{"TERM", "COLORTERM", "LANG"} {
		if value, _ := lookup(name); terminalValue.MatchString(value) {
			env[name] = value
		}
	}
	return env
}

// resumeTimeout bounds the question for the last session, at the end of a run.
const resumeTimeout = 3 * time.Second

// offerResume prints the command that continues the session just left.
func (b *box) offerResume(ctx context.Context, took time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, resumeTimeout)
	defer cancel()
	conn, err := b.link.Open(ctx, wire.ServiceSSH)
	if err != nil {
		return
	}
	out := &capped{max: 200}
	exit, err := terminal.Run(ctx, conn, b.keys, terminal.Options{Command: lastSession(took), Stdout: out})
	if id := parseLastSession(out.String()); err == nil && exit == 0 && id != "" {
		fmt.Fprintln(b.o.Stderr, "aibox: to continue this session: aibox run --resume "+id)
	}
}

// capped keeps the first max bytes written.
type capped struct {
	bytes.Buffer
	max int
}

func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), c.max-c.Len())])
	return len(p), nil
}
