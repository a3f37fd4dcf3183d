package run

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"

	"aibox/internal/border/gitgate/route"
	"aibox/internal/gitlogin"
	"aibox/internal/run/serve"
	"aibox/internal/wire"
)

// askLogins asks the host's git and ssh for the logins of the listed
// repositories: later this process can start neither.
func (p *prepared) askLogins(ctx context.Context, o Options, undo *undo) error {
	if len(p.settings.Git) == 0 {
		return nil
	}
	var remotes []gitlogin.Remote
	for _, r := range p.settings.Git {
		remotes = append(remotes, gitlogin.Remote{Remote: r.Remote, Fetch: r.Fetch, Push: r.Push})
	}
	var err error
	if p.logins, err = gitlogin.Ask(ctx, gitlogin.Host{Home: o.Home, Env: os.Environ()}, remotes); err != nil {
		return err
	}
	undo.push(p.logins.Close)
	for _, line := range p.logins.Missing() {
		fmt.Fprintln(o.Stderr, "aibox: "+line)
	}
	return nil
}

// gitSettings lead the VM's git to the broker for the listed repositories.
func (p *prepared) gitSettings() []wire.Setting {
	var remotes []string
	for _, r := range p.settings.Git {
		remotes = append(remotes, r.Remote)
	}
	return route.Settings(remotes)
}

// claudeAPI is where the key gate sends calls unless the host says otherwise.
func claudeAPI() *url.URL { return &url.URL{Scheme: "https", Host: "api.anthropic.com"} }

func (b *box) servicesConfig() serve.Config {
	return serve.Config{
		Desktop: b.p.desktop.Desktop,
		Allow:   b.p.settings.Allow, Resolver: b.o.Resolver, Git: b.p.logins,
		APIKey: string(b.p.resolved.APIKey), Upstream: cmp.Or(b.o.Upstream, claudeAPI()),
		Log: b.p.proxyLog, Logger: b.log,
	}
}
