// Package helper runs the 9p server in a copy of aibox of its own: under
// Landlock that leaves it the shared folders, the read-only ones for reading,
// and a filter of system calls without network and without other programs;
// where bubblewrap is installed, also in a sandbox that shows it nothing else.
package helper

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/proc"
	"aibox/internal/share"
)

// Command is the hidden command that makes a copy of aibox the file server.
const Command = "internal-shares"

// Options are for Start.
type Options struct {
	// NoSandbox does without bubblewrap also where it is installed.
	NoSandbox bool
	// Lax is jail.Policy.Lax for the server.
	Lax bool
	// Log gets the command line; nil for none.
	Log *slog.Logger
}

// Server is a running file server.
type Server struct {
	process *proc.Process
	socket  *os.File
}

// Start starts a server for folders. It returns before the server answers; a
// server that fails shows by Done. Start closes none of the folders, which may
// be closed once it returned.
func Start(folders []share.Folder, o Options) (*Server, error) {
	if err := share.Check(folders); err != nil {
		return nil, err
	}
	s, err := start(folders, o)
	if err != nil {
		return nil, fmt.Errorf("start the file server: %w", err)
	}
	return s, nil
}

// Socket is the connected end on which the server speaks 9p. Close it once the
// machine was started: the server ends when nobody holds this end any more.
func (s *Server) Socket() *os.File { return s.socket }

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Err says why the server ended, nil when its connection ended first. It is
// valid once Done is closed.
func (s *Server) Err() error {
	if err := s.process.Err(); err != nil {
		return fault.New(fault.Failed, "try again; if it was killed, this machine may have too little memory", "the VM's file server stopped: %w", err)
	}
	return nil
}

// Processes are the host's processes that the server started itself.
func (s *Server) Processes() []int { return []int{s.process.PID()} }

// Kill ends the server at once and closes Socket.
func (s *Server) Kill() {
	s.socket.Close()
	s.process.Kill()
}

// Line is all that the server's command line depends on.
type Line struct {
	Socket  int // number of the connected socket
	Lax     bool
	Modes   bool // jail.Policy.Modes: the sandbox shows nothing but the folders
	Folders []Place
}

// Place is where the server finds a folder.
type Place struct {
	Name, Path string
	ReadOnly   bool
}

// Args returns the arguments behind the program's name.
func Args(l Line) []string {
	a := []string{Command, strconv.Itoa(l.Socket), strconv.FormatBool(l.Lax), strconv.FormatBool(l.Modes)}
	for _, f := range l.Folders {
		access := "rw"
		if f.ReadOnly {
			access = "ro"
		}
		a = append(a, f.Name+":"+access+":"+f.Path)
	}
	return a
}

// ParseArgs reads what Args wrote, without Command.
func ParseArgs(args []string) (Line, error) {
	if len(args) < 3 {
		return Line{}, fmt.Errorf("%s takes a socket, two switches and folders", Command)
	}
	socket, err := strconv.Atoi(args[0])
	if err != nil {
		return Line{}, fmt.Errorf("socket %q is no number", args[0])
	}
	l := Line{Socket: socket, Lax: args[1] == "true", Modes: args[2] == "true"}
	for _, text := range args[3:] {
		parts := strings.SplitN(text, ":", 3)
		if len(parts) != 3 || parts[1] != "ro" && parts[1] != "rw" {
			return Line{}, fmt.Errorf("folder %q is not NAME:ro:PATH or NAME:rw:PATH", text)
		}
		l.Folders = append(l.Folders, Place{Name: parts[0], Path: parts[2], ReadOnly: parts[1] == "ro"})
	}
	return l, nil
}
