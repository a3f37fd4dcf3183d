// Package bwrap describes sandboxes made by bubblewrap and turns them into its
// command lines. A sandbox starts from nothing: no file, no network, no
// process, no environment, no capability of the host is in it but what is
// listed, and what is listed is read-only unless it says otherwise.
package bwrap

import (
	"fmt"
	"strconv"
	"strings"
)

// Access is what a program in the sandbox may do with a bind.
type Access int

// The kinds of access.
const (
	ReadOnly Access = iota
	Writable
	Device // a device node that can be opened
)

// Bind shows a file or folder of the host in the sandbox.
type Bind struct {
	// Source is the host's path. It is not used when FD is set.
	Source string
	// FD is the child's number of an open folder or file, see proc.Handover. Bubblewrap checks
	// after mounting that it mounted this very folder, so a path that was swapped in
	// between cannot be shown. A Device has no FD.
	FD     int
	Dest   string
	Access Access
}

// Link is a symbolic link in the sandbox.
type Link struct{ Target, Path string }

// Sandbox says what the program sees. It gets namespaces of its own of every
// kind, cannot make further user namespaces, has no terminal and no
// capabilities, and the kernel kills it when aibox or bubblewrap ends.
type Sandbox struct {
	Binds []Bind
	Links []Link
	// LibraryPath becomes LD_LIBRARY_PATH, the only environment variable.
	LibraryPath []string

	// Program is the path in the sandbox; Args are without the program's name.
	Program string
	Args    []string
	// Held are the binds that come through the gate: without them Program must
	// not exist in the sandbox. See proc.Gate.
	Held []Bind
	// Gate is the number of the gate's reader and Seccomp that of a file with a
	// further seccomp filter. 0 and less are none; without a gate Held is bound directly.
	Gate, Seccomp int
	// Light is what it is in a proc.Cmd.
	Light bool
}

// nodes are all that /dev has.
var nodes = [...]string{"/dev/null", "/dev/zero", "/dev/urandom"}

// Arguments returns bubblewrap's arguments without its own name. There is no
// --new-session: proc starts bubblewrap in a session without a terminal, which the
// program shares without leading it, so that it cannot get one either.
func (s Sandbox) Arguments() []string {
	a := []string{
		"--unshare-all", "--unshare-user", "--unshare-cgroup", "--disable-userns",
		"--die-with-parent", "--cap-drop", "ALL", "--clearenv",
	}
	if len(s.LibraryPath) > 0 {
		a = append(a, "--setenv", "LD_LIBRARY_PATH", strings.Join(s.LibraryPath, ":"))
	}
	if s.Seccomp > 0 {
		a = append(a, "--add-seccomp-fd", strconv.Itoa(s.Seccomp))
	}
	a = append(a, "--proc", "/proc")
	for _, n := range nodes {
		a = append(a, "--dev-bind", n, n)
	}
	for _, l := range s.Links {
		a = append(a, "--symlink", l.Target, l.Path)
	}
	for _, b := range s.Binds {
		a = append(a, b.arguments()...)
	}
	if s.Gate != 0 {
		a = append(a, "--args", strconv.Itoa(s.Gate))
	} else {
		a = append(a, s.heldArguments()...)
	}
	// A file server that has only bind mounts between its folders and this tree can
	// be asked for any path in it: /proc/self/mem must not open for writing.
	// The root last, since nothing can be made in it after that.
	a = append(a, "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/", "--", s.Program)
	return append(a, s.Args...)
}

// GateData is what bubblewrap reads from the gate.
func (s Sandbox) GateData() []byte {
	return []byte(strings.Join(s.heldArguments(), "\x00") + "\x00")
}

func (s Sandbox) heldArguments() (a []string) {
	for _, b := range s.Held {
		a = append(a, b.arguments()...)
	}
	return a
}

func (b Bind) arguments() []string {
	option := map[Access]string{ReadOnly: "--ro-bind", Writable: "--bind", Device: "--dev-bind"}[b.Access]
	if b.FD == 0 {
		return []string{option, b.Source, b.Dest}
	}
	if b.Access == Device {
		panic(fmt.Sprintf("bug: device %s by number", b.Dest))
	}
	return []string{option + "-fd", strconv.Itoa(b.FD), b.Dest}
}
