// Package virtiofs serves a VM's folders by virtiofsd, the file server of the
// virtio-fs device. One server shows one tree: bubblewrap builds it of bind
// mounts, so the host's kernel enforces what is read-only, and there is nothing
// else in it, whatever the VM makes the server do.
package virtiofs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/jail/bwrap"
	"aibox/internal/proc"
	"aibox/internal/share"
)

// Options are for Start.
type Options struct {
	// Bundle is the folder with a virtiofsd and its own libraries that is used
	// where the machine has none; DefaultBundle if empty.
	Bundle string
	// StandIn is a static program that is started in virtiofsd's place, with its
	// arguments and files and in its sandbox: tests attack from there.
	StandIn string
	// Log gets the command line; nil for none.
	Log *slog.Logger
}

// Server is a running file server.
type Server struct {
	process *proc.Process
	socket  *os.File
	panics  *panicWatch
}

// Start starts a server for folders. It returns before the server answers; a
// server that fails shows by Done. Start closes none of the folders, which may
// be closed once it returned.
func Start(ctx context.Context, folders []share.Folder, o Options) (*Server, error) {
	if err := share.Check(folders); err != nil {
		return nil, err
	}
	wrap, err := bwrap.Find()
	if err != nil {
		return nil, err
	}
	bundle := o.Bundle
	if bundle == "" {
		bundle = DefaultBundle(os.Getenv)
	}
	program, err := find(ctx, bundle)
	if err != nil {
		return nil, err
	}
	if o.StandIn != "" {
		program.Held = append(program.Held, bwrap.Bind{Source: o.StandIn, Dest: program.Program})
	}
	listener, socket, err := listen()
	if err != nil {
		return nil, fmt.Errorf("make the file server's socket: %w", err)
	}
	defer listener.Close()
	stderr, tee, err := os.Pipe()
	if err != nil {
		socket.Close()
		return nil, err
	}
	process, err := launch(wrap, program, folders, listener, tee, o.Log)
	if err != nil {
		stderr.Close()
		tee.Close()
		socket.Close()
		return nil, err
	}
	s := &Server{process: process, socket: socket, panics: new(panicWatch)}
	go s.panics.read(stderr, process.Kill)
	go func() {
		<-process.Done()
		tee.Close()
	}()
	return s, nil
}

func launch(wrap string, program bwrap.Sandbox, folders []share.Folder, listener, stderr *os.File, log *slog.Logger) (*proc.Process, error) {
	filter, err := filterFile()
	if err != nil {
		return nil, err
	}
	defer filter.Close()
	var files proc.Handover
	s := program
	s.Light = true
	for _, f := range folders {
		s.Binds = append(s.Binds, bind(f, files.Give(f.Name, f.Dir)))
	}
	s.Seccomp = files.Give("filter", filter)
	s.Args = Args(Line{Socket: files.Give("socket", listener), UID: os.Getuid(), GID: os.Getgid(), MaxFiles: maxFiles()})
	if log != nil {
		log.Debug("start virtiofsd", "program", s.Program, "args", s.Args, "files", files.String())
	}
	return s.Start(wrap, "virtiofsd", &files, stderr)
}

// bind shows a folder below the served tree.
func bind(f share.Folder, fd int) bwrap.Bind {
	b := bwrap.Bind{FD: fd, Dest: tree + "/" + f.Name, Access: bwrap.Writable}
	if f.ReadOnly {
		b.Access = bwrap.ReadOnly
	}
	return b
}

// Socket is the connected end for vm.Spec.Shares. Close it once the machine was
// started: the server ends when nobody holds this end any more.
func (s *Server) Socket() *os.File { return s.socket }

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Err says why the server ended, nil when its machine ended first. It is valid
// once Done is closed.
func (s *Server) Err() error {
	if reason := s.panics.reason.Load(); reason != nil {
		return fault.New(fault.Failed, "start aibox again, and report what the VM did as a fault of virtiofsd",
			"the VM's file server panicked: %s", *reason)
	}
	return explain(s.process.Err())
}

// Processes are the host's processes that the server started itself.
func (s *Server) Processes() []int { return []int{s.process.PID()} }

// Kill ends the server at once and closes Socket.
func (s *Server) Kill() {
	s.socket.Close()
	s.process.Kill()
}

func explain(err error) error {
	var exit *proc.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if wrapped := bwrap.Explain(err); wrapped != err {
		return wrapped
	}
	if strings.Contains(exit.LastLine, "Maximum number of file descriptors too small") {
		return fault.New(fault.Machine, "allow more open files: ulimit -n 4096", "too few open files are allowed: %w", err)
	}
	return fault.New(fault.Failed, "try again; if it was killed, this machine may have too little memory", "the VM's file server stopped: %w", err)
}
