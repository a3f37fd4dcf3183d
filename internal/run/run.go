package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"aibox/internal/border/control"
	"aibox/internal/border/link"
	"aibox/internal/border/terminal"
	"aibox/internal/run/files"
	"aibox/internal/run/notes"
	"aibox/internal/run/phases"
	"aibox/internal/run/room"
	"aibox/internal/run/serve"
	"aibox/internal/vm"
)

// bootTimeout is enough for software emulation on a busy machine.
const bootTimeout = 3 * time.Minute

// box is one VM on one project, being started, used and stopped.
type box struct {
	o        Options
	p        *prepared
	services *serve.Services
	files    *files.Server
	machine  vm.Machine
	link     *link.Link
	control  *control.Control
	keys     *terminal.Keys
	login    func(context.Context) (*terminal.Client, error) // see startLogin
	times    *phases.Clock
	notes    *notes.Notes
	log      *slog.Logger
	undo     *undo
	over     chan struct{} // closed when the box is being stopped
}

// Run boots a VM on a project, runs one command or session in it, and stops
// it. The result is the command's exit code. Whatever happens, nothing is left
// running. Once the VM runs, the whole process is confined for good, so a
// process can call Run once.
func Run(ctx context.Context, o Options) (exit int, err error) {
	b := &box{o: o.withDefaults(), times: phases.Start(), undo: &undo{}, over: make(chan struct{})}
	b.notes = &notes.Notes{}
	b.log = slog.New(b.notes)
	defer b.finish()
	command, err := b.o.command()
	if err != nil {
		return 0, err
	}
	if err := b.start(ctx); err != nil {
		return 0, b.reason(ctx, err)
	}
	if exit, err = b.session(ctx, command); err != nil {
		return 0, b.reason(ctx, err)
	}
	return exit, nil
}

// start goes through the phases up to a VM that takes sessions, confined.
func (b *box) start(ctx context.Context) error {
	var err error
	if err := checkConfinement(b.o); err != nil {
		return err
	}
	if b.p, err = prepare(ctx, b.o, b.undo); err != nil {
		return err
	}
	for _, name := range b.p.resolved.Unset {
		fmt.Fprintf(b.o.Stderr, "aibox: warning: the config names the variable %s, which is not set here\n", name)
	}
	if b.services, err = serve.New(b.servicesConfig()); err != nil {
		return err
	}
	b.undo.push(b.services.Close)
	b.times.Mark(phases.Prepare)
	b.undo.push(func() { close(b.over) })

	ctx, cancel := context.WithTimeoutCause(ctx, b.o.BootTimeout, fmt.Errorf("%w within %v", errSlow, b.o.BootTimeout))
	defer cancel()
	defer b.progress("starting the VM …")()
	for _, step := range []struct {
		phase string
		do    func(context.Context) error
	}{
		{phases.Files, b.startFiles},
		{phases.Machine, b.startMachine},
		{phases.Confine, b.confine}, // before the first byte of the VM is read
		{phases.Kernel, b.connect},
		{phases.Guest, b.boot},
	} {
		if err := step.do(ctx); err != nil {
			return err
		}
		b.times.Mark(step.phase)
	}
	return nil
}

// progress says what takes long, once, when it takes longer than two seconds.
func (b *box) progress(text string) (stop func()) {
	if !b.o.Terminal {
		return func() {}
	}
	timer := time.AfterFunc(2*time.Second, func() { fmt.Fprintln(b.o.Stderr, "aibox: "+text) })
	return func() { timer.Stop() }
}

// reason returns the error that explains err best: a file server, machine or
// link that ended is why everything behind it failed.
func (b *box) reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if b.files != nil && ended(b.files.Done()) && b.files.Err() != nil {
		return b.files.Err()
	}
	if b.link != nil && ended(b.link.Done()) {
		var violation *link.Violation
		if errors.As(b.link.Err(), &violation) {
			return fmt.Errorf("the VM was stopped: %w", violation)
		}
	}
	if b.machine == nil {
		return err
	}
	ended := b.machineEnds()
	if ended && b.machine.Err() != nil {
		return b.machine.Err()
	}
	if b.control == nil {
		return b.unbooted(err, ended)
	}
	return err
}

// machineEnds tells whether the machine has ended, or does within a moment: the
// link breaks before the process is gone.
func (b *box) machineEnds() bool {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-b.machine.Done():
		return true
	case <-timer.C:
		return false
	}
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// finish stops what runs and tells the user what they should know.
func (b *box) finish() {
	b.undo.unwind()
	if b.services == nil {
		return
	}
	if b.o.Timings {
		b.times.Print(b.o.Stderr)
	}
	b.report(b.o.Stderr)
	if b.o.Report != nil {
		b.o.Report(b.hosts())
	}
}

// report writes what was refused, with the lines to add, and what was logged.
func (b *box) report(w io.Writer) {
	refused, more := b.services.Recorder.Refused()
	for _, r := range refused {
		fmt.Fprintln(w, "aibox: "+strings.TrimPrefix(r.Line(), "aibox: ")) // the proxy's own have it
	}
	if more > 0 {
		fmt.Fprintf(w, "aibox: %d more hosts were refused; see %s\n", more, b.p.logs.ProxyLog())
	}
	if len(refused) > 0 {
		fmt.Fprintln(w, "hint: the config is "+b.p.kept.Config())
	}
	for _, line := range b.notes.Lines() {
		fmt.Fprintln(w, "aibox: "+line)
	}
	if b.p.full {
		fmt.Fprintf(w, "aibox: warning: the disk with %q is full, so what the VM wrote last may be lost\nhint: %s\n", b.p.kept.Dir, room.Hint(b.p.kept.Dir))
	}
}

func (o Options) withDefaults() Options {
	if o.BootTimeout == 0 {
		o.BootTimeout = bootTimeout
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	if o.Home == "" {
		o.Home = os.Getenv("HOME")
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	return o
}
