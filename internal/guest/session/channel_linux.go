package session

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/crypto/ssh"
)

// Command is what a launcher starts.
type Command struct {
	Line  string // for the shell; empty for a login shell
	Env   []string
	Stdio [3]*os.File
	// Terminal tells whether Stdio is a terminal, to become the process's own.
	Terminal bool
}

// Launcher starts commands as the user.
type Launcher interface {
	Launch(Command) (Process, error)
}

// Process is a started command.
type Process interface {
	// Done is closed when the first process has ended.
	Done() <-chan struct{}
	// Exit is how it ended: its exit code, or a signal's name without SIG. It
	// is valid once Done is closed.
	Exit() (code int, signal string)
	// Signal sends the signal so called to the process group.
	Signal(name string)
	// Close kills what is left and frees what the process held.
	Close()
}

// channel is one session. Its requests come one after the other; the started
// process runs beside them.
type channel struct {
	ssh.Channel
	opts     Options
	launcher Launcher

	env      []string
	terminal *Terminal

	started bool
	process Process
	pty     *os.File // init's end of the terminal, if there is one
	ended   chan struct{}
}

// handle serves one request. A command starts after its request was answered,
// so that the answer comes before the output.
func (c *channel) handle(r *ssh.Request) {
	start, ok := func() {}, false
	switch r.Type {
	case "env":
		ok = c.setEnv(r.Payload)
	case "pty-req":
		if t, valid := parseTerminal(r.Payload); valid && !c.started {
			c.terminal, ok = &t, true
		}
	case "window-change":
		if w, valid := parseWindow(r.Payload); valid && c.pty != nil {
			ok = resize(c.pty, w) == nil
		}
	case "signal":
		var s signalRequest
		if ssh.Unmarshal(r.Payload, &s) == nil && c.process != nil {
			c.process.Signal(s.Signal)
			ok = true
		}
	case "shell":
		ok = !c.started
		start = func() { c.start("") }
	case "exec":
		line, valid := parseCommand(r.Payload)
		ok = valid && !c.started
		start = func() { c.start(line) }
	}
	if r.WantReply {
		_ = r.Reply(ok, nil)
	}
	if ok {
		start()
	}
}

func (c *channel) setEnv(payload []byte) bool {
	v, ok := parseEnv(payload)
	if !ok || len(c.env) == maxEnv {
		return false
	}
	c.env = append(c.env, v)
	return true
}

func (c *channel) start(line string) {
	c.started = true
	run, err := c.launch(line)
	if err != nil {
		fmt.Fprintf(c.Stderr(), "aibox: the VM could not start the command: %v\r\n", err)
		c.sendExit(126, "")
		c.Close()
		return
	}
	c.ended = make(chan struct{})
	go func() {
		defer close(c.ended)
		run()
	}()
}

// launch starts the process and returns what carries its output to the end.
func (c *channel) launch(line string) (run func(), err error) {
	if c.terminal != nil {
		return c.launchOnTerminal(line)
	}
	return c.launchOnPipes(line)
}

func (c *channel) launchOnTerminal(line string) (func(), error) {
	master, slave, err := openTerminal(c.terminal.Window)
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	env := append([]string{"TERM=" + c.terminal.Name}, c.env...)
	c.process, err = c.launcher.Launch(Command{
		Line: line, Env: c.opts.Environment(env), Terminal: true,
		Stdio: [3]*os.File{slave, slave, slave},
	})
	if err != nil {
		master.Close()
		return nil, err
	}
	c.pty = master
	go func() { _, _ = io.Copy(master, c) }()
	return func() {
		defer master.Close()
		c.finish(copies(c, master))
	}, nil
}

func (c *channel) launchOnPipes(line string) (func(), error) {
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer p.closeChild()
	c.process, err = c.launcher.Launch(Command{
		Line: line, Env: c.opts.Environment(c.env), Stdio: p.child,
	})
	if err != nil {
		p.closeOwn()
		return nil, err
	}
	go func() {
		_, _ = io.Copy(p.in, c)
		p.in.Close() // the client's end of input is the program's
	}()
	return func() {
		defer p.closeOwn()
		out, errs := copies(c, p.out), copies(c.Stderr(), p.err)
		c.finish(out, errs)
	}, nil
}

// copies copies in the background and closes the returned channel at the end.
func copies(to io.Writer, from io.Reader) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := io.Copy(to, from)
		if err != nil {
			// The client is gone, or the terminal's last user: a program must
			// not hang on output that nobody takes.
			_, _ = io.Copy(io.Discard, from)
		}
	}()
	return done
}

// finish waits for the process, ends what it left behind, sends the rest of
// the output and the result.
func (c *channel) finish(outputs ...<-chan struct{}) {
	<-c.process.Done()
	c.process.Close()
	for _, o := range outputs {
		<-o
	}
	code, signal := c.process.Exit()
	c.sendExit(code, signal)
	c.Close()
}

func (c *channel) sendExit(code int, signal string) {
	if signal != "" {
		_, _ = c.SendRequest("exit-signal", false, ssh.Marshal(exitSignal{Signal: signal}))
		return
	}
	_, _ = c.SendRequest("exit-status", false, ssh.Marshal(exitStatus{Status: uint32(code)}))
}

// abandon ends a session whose client is gone.
func (c *channel) abandon() {
	if c.ended == nil {
		return
	}
	select {
	case <-c.ended:
		return
	default:
	}
	c.process.Signal("HUP")
	timer := time.NewTimer(hangupGrace)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
		c.process.Close()
		<-c.ended
	}
}
