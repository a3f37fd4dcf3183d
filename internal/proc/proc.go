// Package proc is the only place that starts programs which run beside aibox:
// the virtual machine, the file server, helpers. Each runs in a session and
// process group of its own, gets exactly the environment and the open files it
// was given, and is killed by the kernel when aibox ends, however aibox ends.
package proc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"aibox/internal/plain"
)

// Cmd says what to start.
type Cmd struct {
	Name string   // what errors call the program, such as "qemu"
	Path string   // absolute path of the program
	Args []string // without the program's own name
	Env  []string // the whole environment; aibox's own is never passed on
	Dir  string   // working folder; empty is the root folder

	// Files become the child's files 3, 4, …; see Handover. They stay the
	// caller's to close, and may be closed once Start has returned.
	Files []*os.File
	// Stdin is the null device when nil, and so is Stdout.
	Stdin, Stdout *os.File
	// Stderr, when set, gets a copy of all that the program writes to its
	// standard error. Process keeps the last 32 KiB of it in any case.
	Stderr *os.File

	// Caged starts the program as the first process of a user and process
	// namespace of its own: when it ends, the kernel has killed every process
	// it ever started. It needs unprivileged user namespaces and works on Linux.
	Caged bool
	// Light is for a program that does little at a time while another one waits for
	// it. On Linux its session then weighs less than others; see lighten.
	Light bool
	// Gate, when set, is opened once the program has its death signal.
	Gate *Gate
}

// Process is a started program.
type Process struct {
	name string
	os   *os.Process
	tail tail

	done  chan struct{}
	state *os.ProcessState // valid once done is closed
	err   error            // why waiting failed; valid once done is closed

	mu   sync.Mutex
	dead bool // no signal may be sent any more: the number can be another process's
}

// drainTime bounds the wait for the end of standard error after the program
// ended: a process that left the group may hold the pipe open for ever.
const drainTime = time.Second

// Start starts cmd. It returns once the program was executed; an error means
// that nothing runs.
func Start(cmd Cmd) (*Process, error) {
	p, err := start(cmd)
	if err != nil {
		cmd.Gate.drop()
		return nil, fmt.Errorf("start %s: %w", cmd.Name, err)
	}
	return p, nil
}

func start(cmd Cmd) (*Process, error) {
	attr, closeNull, err := attributes(cmd)
	if err != nil {
		return nil, err
	}
	defer closeNull()
	pipe, stderr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	attr.Files[2] = stderr

	child, err := onThread(func() (*os.Process, error) {
		if err := keepFilesIn(); err != nil {
			return nil, fmt.Errorf("close inherited files: %w", err)
		}
		if err := leaveKeys(); err != nil {
			return nil, fmt.Errorf("leave the user's keys: %w", err)
		}
		return os.StartProcess(cmd.Path, append([]string{cmd.Path}, cmd.Args...), attr)
	})
	if err != nil {
		pipe.Close()
		return nil, plainErrno(err)
	}
	p := &Process{name: cmd.Name, os: child, done: make(chan struct{})}
	go p.watch(pipe, cmd.Stderr)
	if cmd.Light {
		lighten(child.Pid)
	}
	if err := cmd.Gate.open(); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// attributes builds what os.StartProcess needs but standard error. The
// returned function closes the null device.
func attributes(cmd Cmd) (*os.ProcAttr, func(), error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	sys, err := sysAttributes(cmd)
	if err != nil {
		null.Close()
		return nil, nil, err
	}
	attr := &os.ProcAttr{Dir: cmd.Dir, Env: append([]string{}, cmd.Env...), Sys: sys}
	if attr.Dir == "" {
		attr.Dir = rootDir
	}
	attr.Files = append([]*os.File{cmd.Stdin, cmd.Stdout, nil}, cmd.Files...)
	for i, f := range attr.Files[:2] {
		if f == nil {
			attr.Files[i] = null
		}
	}
	return attr, func() { null.Close() }, nil
}

// watch collects standard error, ends what the program left in its group,
// reaps it and closes done.
func (p *Process) watch(pipe, tee *os.File) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.tail.readFrom(pipe, tee)
	}()
	if waitExit(p.os.Pid) {
		p.mu.Lock()
		signalGroup(p.os.Pid, syscall.SIGKILL)
		p.dead = true
		p.mu.Unlock()
	}
	p.state, p.err = p.os.Wait()
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()

	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-drained:
		pipe.Close()
	case <-timer.C:
		pipe.Close()
		<-drained
	}
	close(p.done)
}

// PID is the program's process id, also after its end.
func (p *Process) PID() int { return p.os.Pid }

// Done is closed when the program has ended, what it left in its process group
// was killed, and its last words were read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program ended: nil for exit status 0, else an *ExitError.
// It is valid once Done is closed.
func (p *Process) Err() error {
	switch {
	case p.err != nil:
		return fmt.Errorf("wait for %s: %w", p.name, p.err)
	case p.state.Success():
		return nil
	}
	return &ExitError{Name: p.name, How: how(p.state), LastLine: p.tail.lastLine()}
}

// how says how a program ended: "exit status 1", "signal 9 (killed)". Bubblewrap
// and shells end with 128 and the number where a signal ended their program.
func how(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Sprintf("signal %d (%s)", int(status.Signal()), status.Signal())
	}
	if n := state.ExitCode() - 128; n > 0 && n < 32 {
		return fmt.Sprintf("%s, as after signal %d (%s)", state, n, syscall.Signal(n))
	}
	return state.String()
}

// Stderr returns the last 32 KiB of the program's standard error, as written.
func (p *Process) Stderr() string { return p.tail.String() }

// ExitError says how a program ended that did not end well.
type ExitError struct {
	Name     string
	How      string // exit status or signal
	LastLine string // last line of standard error, printable; may be empty
}

func (e *ExitError) Error() string {
	if e.LastLine == "" {
		return fmt.Sprintf("%s ended with %s", e.Name, e.How)
	}
	return fmt.Sprintf("%s ended with %s: %s", e.Name, e.How, plain.Line(e.LastLine))
}

// plainErrno drops the path that os puts before the cause: the path may be one
// of aibox's own making, and the program's name is in the error already.
func plainErrno(err error) error {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("run %s: %w", pe.Path, pe.Err)
	}
	return err
}
