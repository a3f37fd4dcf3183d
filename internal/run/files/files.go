// Package files starts what serves the VM's folders: virtiofsd where there is a
// usable one, else aibox's own 9p server. The first serves a device of the
// machine, the second a serial port.
package files

import (
	"context"
	"log/slog"
	"os"

	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/share"
	"aibox/internal/share/ninep/helper"
)

// Server is a running file server.
type Server struct {
	process
	socket *os.File
	port   bool // the socket is for a serial port, not for a device
	// Notice is a line for the user, "" for none.
	Notice string
}

// process is the part of a server that every kind has.
type process interface {
	Done() <-chan struct{}
	Err() error
	Kill()
	// Processes are the host's processes that must stay killable.
	Processes() []int
}

// Options are for Start.
type Options struct {
	Kind config.ShareKind
	// NoSandbox and Lax are for the 9p server; see package helper.
	NoSandbox, Lax bool
	Log            *slog.Logger
}

// Start starts the server of the kind that the config asks for. The folders may be
// closed once it returned.
func Start(ctx context.Context, folders []share.Folder, o Options) (*Server, error) {
	switch o.Kind {
	case config.SharesNineP:
		return startNineP(folders, o)
	case config.SharesVirtiofs:
		return startVirtiofs(ctx, folders, o)
	}
	why := missing(ctx)
	if why == nil {
		return startVirtiofs(ctx, folders, o)
	}
	s, err := startNineP(folders, o)
	if err != nil {
		return nil, err
	}
	s.Notice = "the project's files come by 9p, since there is no virtiofsd, which is faster"
	if hint := fault.HintOf(why); hint != "" {
		s.Notice += "; " + hint
	}
	return s, nil
}

func startNineP(folders []share.Folder, o Options) (*Server, error) {
	s, err := helper.Start(folders, helper.Options{NoSandbox: o.NoSandbox, Lax: o.Lax, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return &Server{process: s, socket: s.Socket(), port: true, Notice: "the project's files come by 9p"}, nil
}

// Device is the machine's end of a connection for the share device, nil with 9p.
func (s *Server) Device() *os.File {
	if s.port {
		return nil
	}
	return s.socket
}

// Port is the machine's end of a connection for the serial port of 9p, nil with virtiofs.
func (s *Server) Port() *os.File {
	if s.port {
		return s.socket
	}
	return nil
}

// Connected closes this process's copy of the socket, once the machine has its own.
func (s *Server) Connected() { _ = s.socket.Close() }
