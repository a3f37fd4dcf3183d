package helper

import (
	"fmt"
	"net"
	"os"

	"aibox/internal/jail"
	"aibox/internal/share/ninep"
	"aibox/internal/share/ninep/beneath"

	"golang.org/x/sys/unix"
)

// Main is the server's side: it gives up every right that its folders do not
// need, serves until the connection ends, and returns the exit status. args is
// the command line after Command.
func Main(args []string) int {
	if err := child(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func child(args []string) error {
	l, err := ParseArgs(args)
	if err != nil {
		return err
	}
	unix.Umask(0) // the VM's programs have theirs
	if err := raiseFiles(); err != nil {
		return err
	}
	conn, err := inherited(l.Socket)
	if err != nil {
		return err
	}
	policy := jail.Policy{Tree: true, Modes: l.Modes, Alone: true, Lax: l.Lax}
	var space beneath.Space
	var shares []ninep.Share
	for _, f := range l.Folders {
		s, err := open(&space, f)
		if err != nil {
			return err
		}
		shares = append(shares, s)
		if f.ReadOnly {
			policy.ReadDirs = append(policy.ReadDirs, f.Path)
		} else {
			policy.WriteDirs = append(policy.WriteDirs, f.Path)
		}
	}
	if _, err := jail.Apply(policy); err != nil {
		return err
	}
	return ninep.Serve(conn, shares, ninep.Options{})
}

func open(space *beneath.Space, f Place) (ninep.Share, error) {
	dir, err := os.Open(f.Path)
	if err != nil {
		return ninep.Share{}, err
	}
	defer dir.Close()
	root, err := beneath.New(space, dir)
	return ninep.Share{Name: f.Name, Root: root, ReadOnly: f.ReadOnly}, err
}

// raiseFiles lets the process open as many files as the user may: each that the
// VM knows is one.
func raiseFiles() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	l.Cur = l.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("allow more open files: %w", err)
	}
	return nil
}

func inherited(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	if f == nil {
		return nil, fmt.Errorf("file %d is not open", fd)
	}
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("the VM's connection: %w", err)
	}
	return conn, nil
}
