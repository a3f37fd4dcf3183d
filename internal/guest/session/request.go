package session

import (
	"strings"

	"golang.org/x/crypto/ssh"
)

// Payloads of the requests, as RFC 4254 lays them out.
type (
	ptyRequest struct {
		Term          string
		Columns, Rows uint32
		Width, Height uint32
		Modes         string
	}
	windowRequest struct {
		Columns, Rows uint32
		Width, Height uint32
	}
	envRequest    struct{ Name, Value string }
	execRequest   struct{ Command string }
	signalRequest struct{ Signal string }
)

// Replies of the server at a session's end.
type (
	exitStatus struct{ Status uint32 }
	exitSignal struct {
		Signal   string // without SIG
		Core     bool
		Message  string
		Language string
	}
)

// Window is a terminal's size.
type Window struct{ Columns, Rows, Width, Height uint16 }

// Terminal is what a client said of its terminal.
type Terminal struct {
	Name   string
	Window Window
}

// parseTerminal reads a pty-req. The modes are left out: the client's terminal
// is raw, and the VM's starts with the kernel's own settings.
func parseTerminal(payload []byte) (Terminal, bool) {
	var r ptyRequest
	if ssh.Unmarshal(payload, &r) != nil || !validTerm(r.Term) {
		return Terminal{}, false
	}
	return Terminal{Name: r.Term, Window: window(r.Columns, r.Rows, r.Width, r.Height)}, true
}

func parseWindow(payload []byte) (Window, bool) {
	var r windowRequest
	if ssh.Unmarshal(payload, &r) != nil {
		return Window{}, false
	}
	return window(r.Columns, r.Rows, r.Width, r.Height), true
}

// parseEnv returns a variable as NAME=value if the client may set it.
func parseEnv(payload []byte) (string, bool) {
	var r envRequest
	if ssh.Unmarshal(payload, &r) != nil || !clientMaySet(r.Name) ||
		len(r.Value) > maxEnvValue || strings.ContainsAny(r.Value, "\x00\n") {
		return "", false
	}
	return r.Name + "=" + r.Value, true
}

func parseCommand(payload []byte) (string, bool) {
	var r execRequest
	if ssh.Unmarshal(payload, &r) != nil || r.Command == "" ||
		len(r.Command) > maxCommand || strings.ContainsRune(r.Command, 0) {
		return "", false
	}
	return r.Command, true
}

// validTerm is what terminfo names look like; the name becomes part of a path
// in every program that looks the terminal up.
func validTerm(name string) bool {
	for _, c := range []byte(name) {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && !strings.ContainsRune("-_.+:", rune(c)) {
			return false
		}
	}
	return name != "" && len(name) <= maxTerm && name[0] != '.'
}

func window(columns, rows, width, height uint32) Window {
	return Window{
		Columns: uint16(min(columns, maxSide)), Rows: uint16(min(rows, maxSide)),
		Width: uint16(min(width, 1<<16-1)), Height: uint16(min(height, 1<<16-1)),
	}
}
