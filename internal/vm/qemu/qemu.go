// Package qemu runs virtual machines on QEMU's microvm machine: by KVM where
// /dev/kvm works, else by software emulation. QEMU sits in bubblewrap with
// nothing of the host but its own program and the files that it is handed open.
package qemu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"aibox/internal/fault"
	"aibox/internal/jail/bwrap"
	"aibox/internal/proc"
	"aibox/internal/vm"
)

// Backend starts machines on QEMU. The zero value finds everything by itself.
type Backend struct {
	// NoSandbox runs QEMU without bubblewrap, for debugging. QEMU's own seccomp
	// filter stays on.
	NoSandbox bool
	// StandIn is a static program that is started in QEMU's place, with QEMU's
	// arguments and files and in its sandbox: tests attack from there.
	StandIn string
	// Log gets the command line; nil for none.
	Log *slog.Logger

	program string // for tests: instead of the one in PATH
}

// rootPath is the root disk in the sandbox.
const rootPath = "/os.ext4"

// programName is the only one that knows how to run an amd64 guest.
const programName = "qemu-system-x86_64"

// Start implements vm.Backend. Errors name the package that is missing.
func (b Backend) Start(ctx context.Context, spec vm.Spec) (vm.Machine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := check(spec, hostMemory()); err != nil {
		return nil, err
	}
	program, err := b.find()
	if err != nil {
		return nil, err
	}
	kvm := Acceleration().KVM
	speed := make(chan int, 1)
	go func() { speed <- hostTSC() }()
	wrap, box, err := b.confine(ctx, program, kvm)
	if err != nil {
		return nil, err
	}
	ends, err := newEnds()
	if err != nil {
		return nil, err
	}
	defer ends.closeGuest()
	var files proc.Handover
	line := Line{
		KVM: kvm, Memory: spec.Memory, CPUs: spec.CPUs,
		Kernel: files.Give("kernel", spec.Kernel), RootDisk: files.Give("root disk", spec.RootDisk),
		StateDisk: files.Give("state disk", spec.StateDisk), Scratch: spec.Scratch, Shares: files.Give("shares", spec.Shares), NineP: files.Give("9p", spec.NineP),
		Link: files.Give("link", ends.guestLink), Console: files.Give("console", ends.guestConsole),
		TSC: <-speed, KernelArgs: spec.KernelArgs,
	}
	if !b.NoSandbox {
		showRootDisk(&box, &line)
	}
	box.Args = Args(line)
	b.logger().Debug("start qemu", "program", program, "args", box.Args, "files", files.String())
	p, err := b.launch(wrap, program, box, &files)
	if err != nil {
		ends.closeHost()
		return nil, err
	}
	return newMachine(p, ends.link, ends.console, spec.Console), nil
}

// confine returns bubblewrap's path and QEMU's sandbox, without arguments;
// neither with NoSandbox.
func (b Backend) confine(ctx context.Context, program string, kvm bool) (string, bwrap.Sandbox, error) {
	if b.NoSandbox {
		return "", bwrap.Sandbox{}, nil
	}
	wrap, err := bwrap.Find()
	if err != nil {
		return "", bwrap.Sandbox{}, err
	}
	box, err := sandbox(ctx, program, kvm)
	if b.StandIn != "" {
		box.Held = append(box.Held, bwrap.Bind{Source: b.StandIn, Dest: box.Program})
	}
	return wrap, box, err
}

// showRootDisk puts the root disk behind a read-only mount. The file is the
// user's: QEMU could change the mode of one that it was handed open, and open
// it again for writing by its number's path.
func showRootDisk(box *bwrap.Sandbox, line *Line) {
	line.RootPath = rootPath
	box.Binds = append(box.Binds, bwrap.Bind{FD: line.RootDisk, Dest: rootPath})
}

func (b Backend) launch(wrap, program string, box bwrap.Sandbox, files *proc.Handover) (*proc.Process, error) {
	if b.NoSandbox {
		if b.StandIn != "" {
			program = b.StandIn
		}
		return proc.Start(proc.Cmd{Name: "qemu", Path: program, Args: box.Args, Files: files.Files()})
	}
	return box.Start(wrap, "qemu", files, nil)
}

func (b Backend) find() (string, error) {
	if b.program != "" {
		return b.program, nil
	}
	path, err := proc.Look(programName)
	if err != nil {
		return "", fault.New(fault.Machine, "install it: sudo apt-get install qemu-system-x86",
			"QEMU, which runs the VM, is not installed: %w", err)
	}
	return path, nil
}

func (b Backend) logger() *slog.Logger {
	if b.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return b.Log
}

// ends are the two socket pairs between aibox and QEMU. No path leads to them.
type ends struct {
	guestLink, guestConsole *os.File // QEMU's
	link                    net.Conn // aibox's
	console                 *os.File
}

func newEnds() (*ends, error) {
	host, guest, err := socketPair("link")
	if err != nil {
		return nil, fmt.Errorf("make the link: %w", err)
	}
	link, err := net.FileConn(host)
	host.Close() // FileConn made a copy
	if err != nil {
		guest.Close()
		return nil, fmt.Errorf("make the link: %w", err)
	}
	console, guestConsole, err := socketPair("console")
	if err != nil {
		guest.Close()
		link.Close()
		return nil, fmt.Errorf("make the console: %w", err)
	}
	return &ends{guestLink: guest, guestConsole: guestConsole, link: link, console: console}, nil
}

func (e *ends) closeGuest() error { return errors.Join(e.guestLink.Close(), e.guestConsole.Close()) }
func (e *ends) closeHost() error  { return errors.Join(e.link.Close(), e.console.Close()) }
