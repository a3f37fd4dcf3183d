// Package desktop opens what a run gives the VM of the user's desktop: the IDE
// that has the project open, and the clipboard.
package desktop

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"

	"aibox/internal/config"
	"aibox/internal/ide"
	"aibox/internal/jail/helper"
	"aibox/internal/pasteboard"
	"aibox/internal/project"
	"aibox/internal/run/serve"
	"aibox/internal/wire"
)

// Config says what to open.
type Config struct {
	Settings config.Settings
	Home     string // the user's
	Lookup   func(name string) (string, bool)
	Project  project.Folder
	VMHome   *os.File
	Terminal bool // the user's keys come from one
	Lax      bool // see jail.Policy.Lax
	Stderr   io.Writer
}

// Desktop is what was opened.
type Desktop struct {
	serve.Desktop
	board *pasteboard.Board // nil without a clipboard
}

// Open opens what the settings ask for. Nothing of it keeps a run from starting:
// without it Claude Code works as in a plain terminal, and a line says why. It has
// to come before aibox confines itself.
func Open(ctx context.Context, c Config) *Desktop {
	d := &Desktop{}
	if c.Settings.IDE {
		if err := d.openIDE(ctx, c); err != nil {
			fmt.Fprintf(c.Stderr, "aibox: no IDE: %v\n", err)
		}
	}
	if c.Settings.Clipboard && c.Terminal {
		if err := d.openClipboard(c); err != nil {
			fmt.Fprintf(c.Stderr, "aibox: no clipboard: %v\n", err)
		}
	}
	return d
}

func (d *Desktop) openIDE(ctx context.Context, c Config) error {
	found, ok := ide.Find(c.Home, c.Project.Path)
	if !ok {
		return fmt.Errorf("none that runs has %q open", c.Project.Path)
	}
	token := rand.Text()
	text, err := ide.LockFile(found, token)
	if err != nil {
		return err
	}
	// an earlier VM may have left anything in its home
	if err := helper.PutFile(ctx, c.VMHome, helper.File{Path: ide.LockPath(), Mode: 0o600, Data: text}, c.Lax); err != nil {
		return err
	}
	d.IDE = &serve.IDE{IDE: found, GuestToken: token, Project: c.Project.Dir, Path: c.Project.Path}
	return nil
}

func (d *Desktop) openClipboard(c Config) error {
	programs := pasteboard.Find(pasteboard.Host{Home: c.Home, Lookup: c.Lookup})
	if len(programs) == 0 {
		return nil // no desktop, or no program for it
	}
	board, err := pasteboard.Start(programs, c.Lax)
	if err != nil {
		return err
	}
	d.board, d.Clipboard = board, board
	return nil
}

// Close ends what was started.
func (d *Desktop) Close() {
	if d.board != nil {
		d.board.Kill()
	}
}

// Processes are those that Close has to reach.
func (d *Desktop) Processes() []int {
	if d.board == nil {
		return nil
	}
	return []int{d.board.PID()}
}

// Tell tells init what to serve.
func (d *Desktop) Tell(b *wire.Boot) { b.IDE, b.Clipboard = d.IDE != nil, d.Clipboard != nil }
