package run

import (
	"fmt"
	"time"

	"aibox/internal/border/terminal"
	"aibox/internal/config"
	"aibox/internal/hosts"
	"aibox/internal/wire"
)

const (
	shareProject = wire.ShareProject
	shareHome    = wire.ShareHome
)

func shareMount(i int) string { return fmt.Sprintf("m%d", i) }

// bootMessage is what init is told. It holds no key: where the config names
// the API key, the VM learns only that the gate is served.
func bootMessage(s config.Settings, r config.Resolved, id identity, keys *terminal.Keys, extra []string, now time.Time) wire.Boot {
	b := wire.Boot{
		Hostname: "aibox", UnixNano: now.UnixNano(), TimeZone: id.zone,
		UID: id.uid, GID: id.gid,
		Binds: []wire.Bind{
			{Share: shareProject, Target: wire.GuestProject},
			{Share: shareHome, Target: wire.GuestHome},
		},
		StateDisk: true,
		Path:      r.Path,
		HostPorts: hostPorts(s.Allow),
		API:       r.APIKey != "",
		Git:       id.git,

		SSHHostKey:   keys.HostPEM,
		SSHClientKey: keys.AuthorizedKey,
	}
	for i, m := range r.Mounts {
		b.Binds = append(b.Binds, wire.Bind{Share: shareMount(i), Target: m.Guest, ReadOnly: true})
	}
	for _, e := range r.Env {
		b.Env = append(b.Env, e.Name+"="+e.Value)
	}
	b.Env = append(b.Env, extra...)
	return b
}

func hostPorts(allow hosts.List) []wire.HostPort {
	var ports []wire.HostPort
	for _, a := range allow.LoopbackPorts() {
		ports = append(ports, wire.HostPort{Port: a.Port, IPv6: a.Addr.Is6()})
	}
	return ports
}
