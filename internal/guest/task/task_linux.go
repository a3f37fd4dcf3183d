package task

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/session"
	"aibox/internal/wire"
)

// Options is what a task needs of init.
type Options struct {
	// Launcher starts steps as the user, each in a control group of its own.
	Launcher session.Launcher
	// Share is the folder with the prompt, the settings and the start bundle.
	Share string
	// Work is a folder, to be made, that only root can enter.
	Work string
	// Open opens a stream to one of the host's services.
	Open func(service string) (Stream, error)
}

// Task stands in for the launcher of sessions: the one session of a task's VM
// is the task itself.
type Task struct {
	Options
	once sync.Once
}

// New returns the launcher of a task.
func New(o Options) *Task { return &Task{Options: o} }

// Launch starts the task; a second time is an error. The command's input is
// the channel by which the host asks for the end: it does so by closing it.
func (t *Task) Launch(c session.Command) (session.Process, error) {
	err := errors.New("the VM runs one task, which was started already")
	var p *process
	t.once.Do(func() { p, err = t.launch(c) })
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (t *Task) launch(c session.Command) (*process, error) {
	if c.Line != wire.TaskCommand || c.Terminal {
		return nil, errors.New("this VM runs nothing but its task")
	}
	files, err := duplicate(c.Stdio)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &process{done: make(chan struct{}), asked: make(chan struct{}), cancel: cancel}
	go func() {
		_, _ = io.Copy(io.Discard, files[0])
		p.ask()
	}()
	go func() {
		defer close(p.done)
		defer cancel(nil)
		j := &job{Options: t.Options, env: c.Env, lines: files[2], asked: p.asked}
		p.code = j.do(ctx, files[1])
		files[1].Close()
		files[2].Close()
	}()
	return p, nil
}

// duplicate keeps the command's files, which their owner closes.
func duplicate(stdio [3]*os.File) (files [3]*os.File, err error) {
	for i, f := range stdio {
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			for _, open := range files[:i] {
				open.Close()
			}
			return files, err
		}
		files[i] = os.NewFile(uintptr(fd), f.Name())
	}
	return files, nil
}

// process is the running task as its session sees it.
type process struct {
	done   chan struct{}
	asked  chan struct{}
	once   sync.Once
	cancel context.CancelCauseFunc
	code   int // valid once done is closed
}

func (p *process) ask() { p.once.Do(func() { close(p.asked) }) }

// Done is closed when the results were sent.
func (p *process) Done() <-chan struct{} { return p.done }

// Exit is 0 if Claude Code finished.
func (p *process) Exit() (code int, signal string) { return p.code, "" }

// Signal asks for the end, whatever the signal.
func (p *process) Signal(string) { p.ask() }

// Close ends the task at once.
func (p *process) Close() {
	p.cancel(errors.New("the session has ended"))
	<-p.done
}
