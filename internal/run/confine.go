package run

import (
	"context"
	"slices"
	"strconv"

	"aibox/internal/hosts"
	"aibox/internal/jail"
)

// checkConfinement says early whether this machine can confine aibox.
func checkConfinement(o Options) error {
	_, err := jail.Check(jail.Policy{Lax: o.Lax})
	return err
}

// confine takes from this process everything that serving the VM does not need.
func (b *box) confine(context.Context) error {
	policy := confinement(b.p.settings.Allow, b.apiPort())
	policy.Terminal = b.o.Terminal
	policy.Lax = b.o.Lax
	policy.Children = append(b.machine.Processes(), b.files.Processes()...)
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

// confinement is the policy of an aibox that serves a VM: ports to which the
// allow list and the key gate can lead, and what looking up a name needs.
func confinement(allow hosts.List, apiPort uint16) jail.Policy {
	policy := jail.Policy{ConnectTCP: allow.Ports()}
	for _, loopback := range allow.LoopbackPorts() {
		policy.ConnectTCP = append(policy.ConnectTCP, loopback.Port)
	}
	if apiPort != 0 {
		policy.ConnectTCP = append(policy.ConnectTCP, apiPort)
	}
	slices.Sort(policy.ConnectTCP)
	policy.ConnectTCP = slices.Compact(policy.ConnectTCP)
	return policy.DNSFiles("/")
}

// apiPort is the port of the key gate's upstream, 0 without a gate.
func (b *box) apiPort() uint16 {
	if b.services.gate == nil {
		return 0
	}
	port, err := strconv.ParseUint(b.o.upstream().Port(), 10, 16)
	if err != nil {
		return 443
	}
	return uint16(port)
}
