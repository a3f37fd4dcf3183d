package run

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"

	"aibox/internal/ide"
	"aibox/internal/jail/helper"
	"aibox/internal/pasteboard"
	"aibox/internal/run/serve"
	"aibox/internal/wire"
)

// openDesktop finds the IDE and starts the clipboard's helper, as the config
// says. Neither keeps a run from starting: without them Claude Code works as in a
// plain terminal. A task has no user who looks at it.
func (p *prepared) openDesktop(ctx context.Context, o Options, undo *undo) {
	if o.Task != nil {
		return
	}
	if p.settings.IDE {
		if err := p.openIDE(ctx, o); err != nil {
			fmt.Fprintf(o.Stderr, "aibox: no IDE: %v\n", err)
		}
	}
	// keys come from a terminal only
	if p.settings.Clipboard && o.Terminal {
		if err := p.openClipboard(o, undo); err != nil {
			fmt.Fprintf(o.Stderr, "aibox: no clipboard: %v\n", err)
		}
	}
}

func (p *prepared) openIDE(ctx context.Context, o Options) error {
	found, ok := ide.Find(o.Home, p.project.Path)
	if !ok {
		return fmt.Errorf("none that runs has %s open", p.project.Path)
	}
	token := rand.Text()
	text, err := ide.LockFile(found, token)
	if err != nil {
		return err
	}
	// an earlier VM may have left anything in its home
	if err := helper.PutFile(ctx, p.home(), helper.File{Path: ide.LockPath(), Mode: 0o600, Data: text}, o.Lax); err != nil {
		return err
	}
	p.desktop.IDE = &serve.IDE{IDE: found, GuestToken: token, Project: p.project.Dir, Path: p.project.Path}
	return nil
}

// home is the VM's home.
func (p *prepared) home() *os.File {
	for _, f := range p.folders {
		if f.Name == shareHome {
			return f.Dir
		}
	}
	return nil
}

func (p *prepared) openClipboard(o Options, undo *undo) error {
	programs := pasteboard.Find(pasteboard.Host{Home: o.Home, Lookup: o.lookup})
	if len(programs) == 0 {
		return nil // no desktop, or no program: aibox doctor tells
	}
	board, err := pasteboard.Start(programs, o.Lax)
	if err != nil {
		return err
	}
	undo.push(board.Kill)
	p.board, p.desktop.Clipboard = board, board
	return nil
}

// addDesktop tells init what to serve.
func (p *prepared) addDesktop(b *wire.Boot) {
	b.IDE, b.Clipboard = p.desktop.IDE != nil, p.desktop.Clipboard != nil
}
