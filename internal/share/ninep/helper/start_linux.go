package helper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aibox/internal/jail/bwrap"
	"aibox/internal/proc"
	"aibox/internal/share"

	"golang.org/x/sys/unix"
)

// self is this very program, also when its file was replaced or removed.
const self = "/proc/self/exe"

// Places in the sandbox.
const (
	program = "/aibox"
	tree    = "/shares"
)

func start(folders []share.Folder, o Options) (*Server, error) {
	own, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	process, err := launch(folders, theirs, o)
	if err != nil {
		own.Close()
		return nil, err
	}
	return &Server{process: process, socket: own}, nil
}

func launch(folders []share.Folder, socket *os.File, o Options) (*proc.Process, error) {
	if wrap, err := bwrap.Find(); err == nil && !o.NoSandbox {
		return launchSandboxed(wrap, folders, socket, o)
	}
	var files proc.Handover
	l := Line{Socket: files.Give("socket", socket), Lax: o.Lax}
	for _, f := range folders {
		fd := files.Give(f.Name, f.Dir)
		l.Folders = append(l.Folders, Place{Name: f.Name, Path: fmt.Sprintf("/proc/self/fd/%d", fd), ReadOnly: f.ReadOnly})
	}
	tell(o, Args(l), &files)
	return proc.Start(proc.Cmd{Name: "the file server", Path: self, Args: Args(l), Env: []string{"LANG=C"}, Files: files.Files(), Light: true})
}

func launchSandboxed(wrap string, folders []share.Folder, socket *os.File, o Options) (*proc.Process, error) {
	exe, err := os.Open(self)
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := bwrap.Sandbox{Program: program, Light: true}
	if s.Binds, s.LibraryPath, err = bwrap.Libraries(context.Background(), path); err != nil {
		return nil, err
	}
	var files proc.Handover
	s.Held = []bwrap.Bind{{FD: files.Give("program", exe), Dest: program}}
	l := Line{Socket: files.Give("socket", socket), Lax: o.Lax, Modes: true}
	for _, f := range folders {
		b := bwrap.Bind{FD: files.Give(f.Name, f.Dir), Dest: filepath.Join(tree, f.Name), Access: bwrap.Writable}
		if f.ReadOnly {
			b.Access = bwrap.ReadOnly
		}
		s.Binds = append(s.Binds, b)
		l.Folders = append(l.Folders, Place{Name: f.Name, Path: b.Dest, ReadOnly: f.ReadOnly})
	}
	s.Args = Args(l)
	tell(o, s.Args, &files)
	return s.Start(wrap, "the file server", &files, nil)
}

func tell(o Options, args []string, files *proc.Handover) {
	if o.Log != nil {
		o.Log.Debug("start the file server", "args", args, "files", files.String())
	}
}

// socketPair returns two connected sockets.
func socketPair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "server"), os.NewFile(uintptr(fds[1]), "client"), nil
}
