package jail

import (
	"fmt"
	"strings"

	"aibox/internal/jail/landlock"
)

// Guard is one protection and its state.
type Guard struct {
	Name     string // such as "files"
	Enforced bool
	// Needed guards are an error when the kernel lacks them; the others need
	// newer kernels than aibox asks for.
	Needed bool
	Lost   string // what is possible without it
}

// Report is what a policy took away and left.
type Report struct {
	Guards  []Guard
	Allowed []string // what the policy leaves, one thing each
}

// Missing returns the guards that are not enforced.
func (r Report) Missing() []Guard {
	var missing []Guard
	for _, g := range r.Guards {
		if !g.Enforced {
			missing = append(missing, g)
		}
	}
	return missing
}

// Lines returns the report as lines for a log: one per guard, one per thing
// that stays possible.
func (r Report) Lines() []string {
	var lines []string
	for _, g := range r.Guards {
		if g.Enforced {
			lines = append(lines, g.Name+": enforced")
		} else {
			lines = append(lines, g.Name+": not enforced: "+g.Lost)
		}
	}
	for _, a := range r.Allowed {
		lines = append(lines, "allowed: "+a)
	}
	return lines
}

// err is about the first needed guards that are not there.
func (r Report) err(lax bool) error {
	var lost []Guard
	for _, g := range r.Missing() {
		if g.Needed && !lax {
			lost = append(lost, g)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return errOldKernel(lost)
}

// abilities is what a machine can enforce.
type abilities struct {
	abi     int // Landlock's
	seccomp bool
}

// report is what applying p on a machine gives.
func report(p Policy, m abilities) Report {
	has := func(l landlock.Limit) bool { return landlock.Enforces(m.abi, l) }
	noSockets := m.seccomp && !p.internet()
	return Report{
		Allowed: p.allowed(),
		Guards: []Guard{
			{"new privileges", true, true, ""},
			{"files", has(landlock.Files), true,
				"a fault in aibox could read and change all of your files"},
			// Needed also where no socket can be made: a machine that cannot limit
			// aibox must be known before one is started, whoever asks.
			{"TCP ports", has(landlock.TCP) && m.seccomp, true,
				"a fault in aibox could connect to any port"},
			{"UDP ports", has(landlock.UDP) || noSockets, false,
				"a fault in aibox could send UDP packets anywhere (Linux with Landlock ABI 10 limits them)"},
			{"unix sockets", m.seccomp && !p.Desktop, !p.Desktop,
				"a fault in aibox could talk to your desktop's services"},
			{"signals", m.seccomp || p.Alone && has(landlock.Signals), true,
				"a fault in aibox could end your other programs"},
			{"system calls", m.seccomp, true,
				"a fault in aibox could start programs and reach more of the kernel"},
			{"memory dump", true, true, ""},
		},
	}
}

// allowed lists what the policy leaves, one thing each.
func (p Policy) allowed() []string {
	var list []string
	for _, kind := range []struct {
		verb  string
		paths []string
	}{
		{"read file", p.ReadFiles}, {"read folder", p.ReadDirs},
		{"write file", p.WriteFiles}, {"write folder", p.WriteDirs}, {"execute", p.Exec},
	} {
		for _, path := range kind.paths {
			list = append(list, fmt.Sprintf("%s %s", kind.verb, path))
		}
	}
	if ports := p.ports(); len(ports) > 0 {
		list = append(list, "connect to TCP port "+strings.Trim(fmt.Sprint(ports), "[]"))
	}
	if p.Desktop {
		list = append(list, "use the desktop's sockets")
	}
	if p.Terminal {
		list = append(list, "set the terminal's modes")
	}
	if len(p.Children) > 0 {
		list = append(list, "signal process "+strings.Trim(fmt.Sprint(p.Children), "[]"))
	}
	return list
}
