package run

import (
	"context"

	"aibox/internal/jail"
)

// checkConfinement says early whether this machine can confine aibox.
func checkConfinement(o Options) error {
	_, err := jail.Check(jail.Policy{Lax: o.Lax})
	return err
}

// confine takes from this process everything that serving the VM does not need.
func (b *box) confine(context.Context) error {
	policy := confinement(b.services.Ports())
	policy.Terminal = b.o.Terminal
	policy.Lax = b.o.Lax
	policy.Children = append(b.machine.Processes(), b.files.Processes()...)
	policy.Children = append(policy.Children, b.p.desktop.Processes()...)
	report, err := jail.Apply(policy)
	if err != nil {
		return err
	}
	for _, guard := range report.Missing() {
		if guard.Needed || b.o.Timings {
			b.log.Warn("this kernel cannot limit " + guard.Name + ": " + guard.Lost)
		}
	}
	return nil
}

// confinement is the policy of an aibox that serves a VM: the ports to which
// its services can lead, and what looking up a name needs.
func confinement(ports []uint16) jail.Policy {
	return jail.Policy{ConnectTCP: ports}.DNSFiles("/")
}
