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
	ends, err := newEnds()
	if err != nil {
		return nil, err
	}
	defer ends.closeGuest()
	kvm := Acceleration().KVM
	var files proc.Handover
	line := Line{
		KVM: kvm, Memory: spec.Memory, CPUs: spec.CPUs,
		Kernel: files.Give("kernel", spec.Kernel), RootDisk: files.Give("root disk", spec.RootDisk),
		StateDisk: files.Give("state disk", spec.StateDisk), Shares: files.Give("shares", spec.Shares),
		Link: files.Give("link", ends.guestLink), Console: files.Give("console", ends.guestConsole),
		KernelArgs: spec.KernelArgs,
	}
	if !b.NoSandbox {
		line.RootPath = rootPath
	}
	b.logger().Debug("start qemu", "program", program, "args", Args(line), "files", files.String())
	p, err := b.launch(ctx, program, line, &files)
	if err != nil {
		ends.closeHost()
		return nil, err
	}
	return newMachine(p, ends.link, ends.console, spec.Console), nil
}

func (b Backend) launch(ctx context.Context, program string, line Line, files *proc.Handover) (*proc.Process, error) {
	if b.NoSandbox {
		if b.StandIn != "" {
			program = b.StandIn
		}
		return proc.Start(proc.Cmd{Name: "qemu", Path: program, Args: Args(line), Files: files.Files()})
	}
	wrap, err := bwrap.Find()
	if err != nil {
		return nil, err
	}
	s, err := sandbox(ctx, program, line.KVM)
	if err != nil {
		return nil, err
	}
	s.Args = Args(line)
	// The file is the user's, who may open it again for writing by its number's
	// path, or first change its mode. Behind a read-only mount QEMU can neither.
	s.Binds = append(s.Binds, bwrap.Bind{FD: line.RootDisk, Dest: line.RootPath})
	if b.StandIn != "" {
		s.Held = append(s.Held, bwrap.Bind{Source: b.StandIn, Dest: s.Program})
	}
	return s.Start(wrap, "qemu", files, nil)
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
