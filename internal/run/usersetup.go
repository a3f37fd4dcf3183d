package run

import (
	"fmt"

	"aibox/internal/project"
	"aibox/internal/share"
	"aibox/internal/usersetup"
	"aibox/internal/wire"
)

// openUserSetup opens what the VM gets of the user's own set-up of Claude Code.
func (p *prepared) openUserSetup(place project.Place, o Options, undo *undo) {
	p.user = usersetup.Read(place, o.Home, p.settings)
	undo.close(p.user)
	for _, f := range p.user.Folders {
		p.folders = append(p.folders, share.Folder{Name: f.Name, Dir: f.Dir, ReadOnly: true})
	}
	for _, line := range p.user.LeftOut {
		fmt.Fprintln(o.Stderr, "aibox: "+line)
	}
}

// addUserSetup tells init where the folders go and what to copy. The VM's home
// may have something else at their places, which must not keep it from booting.
func (p *prepared) addUserSetup(b *wire.Boot) {
	for _, f := range p.user.Folders {
		b.Binds = append(b.Binds, wire.Bind{Share: f.Name, Target: f.Target(), ReadOnly: true, Optional: true})
	}
	b.User = &p.user.Copied
}
