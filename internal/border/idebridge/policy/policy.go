// Package policy says which messages pass between Claude Code in the VM and the
// user's IDE, and in which form. It is pure: a message goes in, and what may be
// passed on comes out, built anew from known fields, or why not.
//
// Who sends these messages: the VM (functions of Policy named Call, Note) and the
// IDE (Answer, NoteToVM). What an attacker gains and what is logged: package idebridge.
package policy

import (
	"encoding/json"
	"fmt"
	"regexp"

	"aibox/internal/border/idebridge/paths"
	"aibox/internal/plain"
)

// HeldError says what was not passed on, in one printable line.
type HeldError struct{ What string }

func (e *HeldError) Error() string { return e.What + " is held back by aibox" }

func held(format string, args ...any) error {
	return &HeldError{plain.LineMax(fmt.Sprintf(format, args...), maxWhat)}
}

// Policy is what passes between one project and one IDE.
type Policy struct {
	Project paths.Project
	// PID stands for the process of Claude Code, which the IDE cannot see.
	PID int
}

// Kind is a request that passes.
type Kind int

// The requests.
const (
	Initialize Kind = iota
	Ping
	ListTools
	OpenDiff
	CloseTab
	CloseDiffs
	Diagnostics
)

// tools are the IDE's tools that the VM may call, by name.
func tools() map[string]Kind {
	return map[string]Kind{"openDiff": OpenDiff, "close_tab": CloseTab, "closeAllDiffTabs": CloseDiffs, "getDiagnostics": Diagnostics}
}

// Call is a request for the IDE.
type Call struct {
	Kind   Kind
	Method string
	Params any
	// Tab is the title that a diff gets, or the tab to close.
	Tab string
}

// Call judges a request of the VM.
func (p Policy) Call(method string, params json.RawMessage) (Call, error) {
	switch method {
	case "initialize":
		return initialize(params)
	case "ping":
		return Call{Ping, method, nil, ""}, nil
	case "tools/list":
		return Call{ListTools, method, struct{}{}, ""}, nil
	case "tools/call":
		return p.callTool(params)
	}
	return Call{}, held("the request %q", method)
}

// implementation is how a side of MCP names itself.
type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (i implementation) clean() implementation {
	return implementation{plain.LineMax(i.Name, maxName), plain.LineMax(i.Version, maxName)}
}

var protocolDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// initialize drops the VM's capabilities, so that the IDE asks it for nothing.
func initialize(params json.RawMessage) (Call, error) {
	var in struct {
		Protocol string         `json:"protocolVersion"`
		Client   implementation `json:"clientInfo"`
	}
	if json.Unmarshal(params, &in) != nil || !protocolDate.MatchString(in.Protocol) {
		return Call{}, held("a broken initialize")
	}
	return Call{Initialize, "initialize", struct {
		Protocol     string         `json:"protocolVersion"`
		Capabilities struct{}       `json:"capabilities"`
		Client       implementation `json:"clientInfo"`
	}{in.Protocol, struct{}{}, in.Client.clean()}, ""}, nil
}

// Note judges a notification of the VM. Params are nil where it has none.
func (p Policy) Note(method string) (params any, err error) {
	switch method {
	case "notifications/initialized":
		return nil, nil
	case "ide_connected":
		return map[string]int{"pid": p.PID}, nil
	}
	return nil, held("the notification %q", method)
}
