package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aibox/internal/border/control"
	"aibox/internal/border/link"
	"aibox/internal/border/terminal"
	"aibox/internal/run/files"
	"aibox/internal/vm"
	"aibox/internal/wire"
)

// stopGrace is how long a VM may take to power off before it is killed.
const stopGrace = 8 * time.Second

func (b *box) startFiles(ctx context.Context) error {
	var err error
	o := files.Options{Kind: b.p.settings.Shares, NoSandbox: b.o.NoSandbox, Lax: b.o.Lax, Log: b.log}
	if b.files, err = files.Start(ctx, b.p.folders, o); err != nil {
		return err
	}
	b.undo.push(b.files.Kill)
	if b.files.Notice != "" {
		fmt.Fprintln(b.o.Stderr, "aibox: "+b.files.Notice)
	}
	return nil
}

func (b *box) startMachine(ctx context.Context) error {
	if notice := accelerationNotice(); notice != "" {
		fmt.Fprintln(b.o.Stderr, "aibox: "+notice)
	}
	if b.o.NoSandbox {
		fmt.Fprintln(b.o.Stderr, "aibox: warning: QEMU runs without bubblewrap (--no-sandbox)")
	}
	var arguments []string
	if b.o.Task != nil {
		arguments = []string{wire.ScratchArgument}
	}
	var err error
	b.machine, err = backend(b.o, b.log).Start(ctx, vm.Spec{
		Memory: b.p.settings.Memory, CPUs: b.p.settings.CPUs,
		Kernel: b.p.image.Kernel, RootDisk: b.p.image.RootDisk, StateDisk: b.p.state.File, Scratch: b.o.Task != nil, KernelArgs: arguments,
		Shares: b.files.Device(), NineP: b.files.Port(), Console: b.p.console,
	})
	if err != nil {
		return err
	}
	b.undo.push(b.machine.Kill)
	// QEMU has its own copies. Were the socket kept open here, the file server
	// would not notice QEMU's end.
	b.files.Connected()
	return nil
}

// connect waits for init's hello.
func (b *box) connect(ctx context.Context) error {
	opts := link.Options{Handlers: b.services.Handlers(b.over), Log: b.log, HelloTimeout: b.o.BootTimeout}
	if b.o.Task != nil {
		b.o.Task.serve(opts.Handlers)
	}
	type result struct {
		link *link.Link
		err  error
	}
	got := make(chan result, 1)
	go func() {
		l, err := serveLink(b.machine.Link(), opts)
		got <- result{l, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			return fmt.Errorf("the VM: %w", r.err)
		}
		b.link = r.link
		b.undo.push(b.link.Close)
		return nil
	case <-ctx.Done():
		b.machine.Kill()
		if r := <-got; r.err == nil { // it came at the last moment
			r.link.Close()
		}
		return context.Cause(ctx)
	case <-b.files.Done():
		err := b.files.Err()
		if err == nil { // the file server ended because the machine does, which knows why
			b.machineEnds()
			err = errors.New("the VM ended before it had booted")
		}
		b.machine.Kill()
		if r := <-got; r.err == nil {
			r.link.Close()
		}
		return err
	}
}

func serveLink(l vm.Link, opts link.Options) (*link.Link, error) {
	if l.Streams != nil {
		return link.New(l.Streams, opts)
	}
	return link.Serve(l.Serial, opts)
}

// boot tells init what to do and waits until it has done it.
func (b *box) boot(ctx context.Context) error {
	ctx, stop := b.untilBroken(ctx)
	defer stop()
	var err error
	if b.keys, err = terminal.NewKeys(); err != nil {
		return fmt.Errorf("make the session's keys: %w", err)
	}
	select {
	case conn := <-b.services.Control:
		b.login = b.startLogin(context.WithoutCancel(ctx)) // it ends with the link
		message := bootMessage(b.p.settings, b.p.resolved, b.p.identity, b.keys, b.o.ExtraEnv, time.Now())
		message.NineP = b.files.Port() != nil
		if b.p.logins != nil {
			message.GitBroker, message.Git = true, append(message.Git, b.p.gitSettings()...)
		}
		b.p.addUserSetup(&message)
		b.p.desktop.Tell(&message)
		if b.o.Task != nil {
			b.o.Task.change(&message)
		}
		if b.control, err = control.Start(ctx, conn, message); err != nil {
			return err
		}
	case <-b.link.Done():
		return errors.New("the VM ended before it asked what to boot")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	b.times.Steps(b.control.Steps())
	b.undo.push(b.powerOff)
	return nil
}

// powerOff asks the VM to end and gives it some time; the machine's undo kills
// it. A task's VM has nothing to write that anybody will read.
func (b *box) powerOff() {
	if b.o.Task != nil {
		return
	}
	if b.control.Shutdown() != nil {
		return
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-b.machine.Done():
	case <-timer.C:
		b.log.Warn("the VM did not power off in time and was killed")
	}
}
