package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/crypto/ssh"

	"aibox/internal/border/terminal/tty"
)

// ErrLost is wrapped by Run's error when the connection ended before the VM
// told how the command ended.
var ErrLost = errors.New("the connection with the VM was lost")

// ErrSetup is wrapped by Run's error when the command was never started.
var ErrSetup = errors.New("the VM started no session")

// Options say what to run and on what.
type Options struct {
	// Command goes to the user's shell in the VM; empty means a login shell.
	Command string
	// Env is set in the session. TERM belongs into it for a PTY.
	Env map[string]string

	// PTY gives the command a terminal in the VM, and puts the one on Stdin
	// into raw mode meanwhile: Stdin must be an *os.File of a terminal then.
	// Stdout takes all output, and Stderr is not used.
	PTY bool
	// Stdin is the command's input; nil for none. Without PTY a Read that
	// waits when the command ends is left behind.
	Stdin io.Reader
	// Stdout and Stderr take output; nil drops it.
	Stdout, Stderr io.Writer
	// OnInput sees the user's keys on their way to the VM, piece by piece as
	// they were read. It must neither block nor keep the slice.
	OnInput func([]byte)
}

// Client is logged in and runs one session.
type Client struct {
	conn  *gate
	ssh   ssh.Conn
	setup time.Duration
}

// Login does the handshake and the login over conn within SetupTimeout. It
// closes conn if it fails; Run and Close do else. Errors wrap ErrSetup, or the
// cause of ctx's end.
func Login(ctx context.Context, conn net.Conn, keys *Keys) (*Client, error) {
	return loginWithin(ctx, conn, keys, SetupTimeout)
}

func loginWithin(ctx context.Context, conn net.Conn, keys *Keys, setup time.Duration) (*Client, error) {
	c := &Client{conn: newGate(conn), setup: setup}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	defer stop()
	timer := time.AfterFunc(setup, func() { _ = c.conn.Close() })
	defer timer.Stop()
	var err error
	if c.ssh, err = login(c.conn, keys); err != nil {
		_ = c.conn.Close()
		return nil, causeOf(ctx, setupError(err, timer))
	}
	return c, nil
}

// Close ends a client that is not run.
func (c *Client) Close() error { return c.conn.Close() }

// Run runs one session and closes the connection. The result is the command's
// exit code, or 128+N when signal N ended it. Errors wrap ErrSetup, ErrLost, or
// the cause of ctx's end; the exit code is -1 beside one. The terminal is
// restored before Run returns, whatever happened.
func (c *Client) Run(ctx context.Context, o Options) (int, error) {
	s := &session{Options: o, Client: c}
	defer s.conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.Close() })
	defer stop()
	code, err := s.run(ctx)
	if err != nil {
		return -1, causeOf(ctx, err)
	}
	return code, nil
}

// Run logs in over conn and runs one session; see Login and Client.Run.
func Run(ctx context.Context, conn net.Conn, keys *Keys, o Options) (int, error) {
	if err := checkTerminal(o); err != nil {
		_ = conn.Close()
		return -1, err
	}
	c, err := Login(ctx, conn, keys)
	if err != nil {
		return -1, err
	}
	return c.Run(ctx, o)
}

// causeOf says why ctx ended, if it did, in place of what came of it.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("session in the VM: %w", context.Cause(ctx))
	}
	return err
}

// session is one Run.
type session struct {
	Options
	*Client
	channel ssh.Channel
	exit    *exit
	tty     *tty.Terminal // nil without PTY
	asked   tty.Size      // of the PTY at its start
	good    bool          // the session ended as it should; false after a panic too
}

func (s *session) run(ctx context.Context) (code int, err error) {
	if err := checkTerminal(s.Options); err != nil {
		return 0, err
	}
	timer := time.AfterFunc(s.setup, func() { _ = s.conn.Close() })
	defer timer.Stop()
	if err := s.open(); err != nil {
		return 0, setupError(err, timer)
	}
	if s.PTY {
		if s.tty, err = tty.Open(s.Stdin.(*os.File), s.Stdout); err != nil {
			return 0, err
		}
		defer func() { s.tty.Restore(!s.good) }()
	}
	if err := s.start(); err != nil {
		return 0, setupError(err, timer)
	}
	if !timer.Stop() {
		return 0, setupError(net.ErrClosed, timer)
	}
	code, err = s.serve(ctx)
	s.good = err == nil
	return code, err
}

// checkTerminal refuses a PTY without a terminal before anything is sent.
func checkTerminal(o Options) error {
	if !o.PTY {
		return nil
	}
	if f, ok := o.Stdin.(*os.File); !ok || !tty.IsTerminal(f) {
		return fmt.Errorf("%w: the input is not a terminal", ErrSetup)
	}
	if o.Stdout == nil {
		return fmt.Errorf("%w: no output for the terminal", ErrSetup)
	}
	return nil
}

func setupError(err error, timer *time.Timer) error {
	if !timer.Stop() {
		return fmt.Errorf("%w: it took too long", ErrSetup)
	}
	return fmt.Errorf("%w: %w", ErrSetup, plainError{err})
}

// open opens the session's channel.
func (s *session) open() error {
	channel, requests, err := s.ssh.OpenChannel("session", nil)
	if err != nil {
		return fmt.Errorf("open the session's channel: %w", err)
	}
	s.channel = channel
	s.exit = watchExit(requests, func() { _ = s.conn.Close() })
	return nil
}

// start asks for terminal and environment and starts the command.
func (s *session) start() error {
	if s.PTY {
		s.asked = s.tty.Size()
		err := ask(s.channel, "pty-req", ptyRequest{
			Term: s.Env["TERM"], Columns: s.asked.Columns, Rows: s.asked.Rows, Modes: ptyModes,
		})
		if err != nil {
			return err
		}
	}
	if err := askEnv(s.channel, s.Env); err != nil {
		return err
	}
	return askStart(s.channel, s.Command)
}
