package run

import (
	"context"
	"os"
	"os/exec"

	"aibox/internal/jail/helper"
	"aibox/internal/run/zone"
	"aibox/internal/wire"
)

// identity is the user as the VM sees them.
type identity struct {
	uid, gid int
	git      []wire.Setting
	zone     string
}

// userIdentity gathers what it can: a name that git does not tell is left to
// the user, who sees git's own message in the VM.
func userIdentity(ctx context.Context, project *os.File, o Options) identity {
	id := identity{uid: os.Getuid(), gid: os.Getgid(), zone: zone.Host()}
	git, err := exec.LookPath("git")
	if err != nil {
		return id
	}
	xdg, _ := o.lookup("XDG_CONFIG_HOME")
	user, err := helper.GitIdentity(ctx, project, helper.GitUser{Git: git, Home: o.Home, XDGConfig: xdg, Lax: o.Lax})
	if err != nil {
		return id
	}
	for _, s := range []wire.Setting{{Name: "user.name", Value: user.Name}, {Name: "user.email", Value: user.Email}} {
		if s.Value != "" {
			id.git = append(id.git, s)
		}
	}
	return id
}
