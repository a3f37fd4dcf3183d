package serve

import (
	"os"

	"aibox/internal/border/clipboard"
	"aibox/internal/border/idebridge"
	"aibox/internal/border/idebridge/paths"
	"aibox/internal/border/idebridge/policy"
	"aibox/internal/border/link"
	"aibox/internal/ide"
	"aibox/internal/wire"
)

// Streams of each service at once, as in services.go.
const (
	maxIDEStreams       = 4
	maxClipboardStreams = 4
)

// Desktop is what the VM gets of the user's desktop.
type Desktop struct {
	IDE *IDE // nil without one
	// Clipboard reads the user's clipboard; nil when it stays closed.
	Clipboard clipboard.Source
}

// IDE is the user's IDE and what its bridge checks.
type IDE struct {
	ide.IDE
	// GuestToken is what a client in the VM has to know.
	GuestToken string
	// Project is the project's folder, by its one name without links at Path.
	Project *os.File
	Path    string
}

func (s *Services) addDesktop(d Desktop) {
	if d.IDE != nil {
		s.ports = append(s.ports, d.IDE.Port)
		s.ide = idebridge.New(idebridge.Config{
			Policy: policy.Policy{PID: os.Getpid(), Project: paths.Project{
				Roots: []string{d.IDE.Root, d.IDE.Path}, Check: ide.NoLinks(d.IDE.Project),
			}},
			Token: d.IDE.GuestToken, IDEToken: d.IDE.Token, Port: d.IDE.Port,
			HeldBack: func(what string) { s.Recorder.HoldBack("ide: " + what) },
		})
	}
	if d.Clipboard != nil {
		s.clipboard = clipboard.New(clipboard.Config{
			Source:   d.Clipboard,
			HeldBack: func(what string) { s.Recorder.HoldBack("clipboard: " + what) },
		})
	}
}

func (s *Services) desktopHandlers(h map[string]link.Handler) {
	if s.ide != nil {
		h[wire.ServiceIDE] = link.Handler{Serve: s.ide.Serve, MaxStreams: maxIDEStreams}
	}
	if s.clipboard != nil {
		h[wire.ServiceClipboard] = link.Handler{Serve: s.clipboard.Serve, MaxStreams: maxClipboardStreams}
	}
}

// Keys is what sees the user's keys before the VM does; nil when nothing does.
func (s *Services) Keys() func([]byte) {
	if s.clipboard == nil {
		return nil
	}
	return s.clipboard.Input
}
