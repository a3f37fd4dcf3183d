// Package files starts what serves the VM's folders: virtiofsd where there is a
// usable one, else aibox's own 9p server. The first is a device of the machine,
// the second a stream of the link.
package files

import (
	"context"
	"io"
	"log/slog"
	"os"

	"aibox/internal/border/link"
	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/share"
	"aibox/internal/share/ninep/helper"
	"aibox/internal/wire"
)

// Server is a running file server.
type Server struct {
	process
	socket *os.File           // nil for 9p
	conn   io.ReadWriteCloser // nil for virtiofs
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
	return &Server{process: s, conn: s.Conn(), Notice: "the project's files come by 9p"}, nil
}

// Socket is the machine's end of the connection, nil where there is none.
func (s *Server) Socket() *os.File { return s.socket }

// NineP tells whether the VM has to mount a stream.
func (s *Server) NineP() bool { return s.conn != nil }

// Serve adds the stream's handler to those of the link, where there is one.
func (s *Server) Serve(handlers map[string]link.Handler) {
	if s.conn == nil {
		return
	}
	r := newRelay(s.conn)
	handlers[wire.ServiceShares] = link.Handler{Serve: r.serve, MaxStreams: 1}
}
