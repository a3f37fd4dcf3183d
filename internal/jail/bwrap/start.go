package bwrap

import (
	"os"

	"aibox/internal/fault"
	"aibox/internal/proc"
)

// Find returns bubblewrap's path. A machine without it is a fault.Machine.
func Find() (string, error) {
	path, err := proc.Look("bwrap")
	if err != nil {
		return "", fault.New(fault.Machine, "install it: sudo apt-get install bubblewrap",
			"bubblewrap, which confines the VM's programs, is not installed: %w", err)
	}
	return path, nil
}

// Start runs the sandbox's program by the bubblewrap at path, as a caged
// program behind a gate: no death of aibox at any moment leaves a process of it.
// Bubblewrap's --die-with-parent alone does not do that: killed between its fork
// and its child's request for the signal, it leaves the child behind for good.
// The files get the numbers that the sandbox's command line names.
func (s Sandbox) Start(path, name string, files *proc.Handover, stderr *os.File) (*proc.Process, error) {
	gate, err := proc.NewGate(s.GateData())
	if err != nil {
		return nil, err
	}
	s.Gate = files.Give("gate", gate.Reader())
	p, err := proc.Start(proc.Cmd{
		Name: name, Path: path, Args: s.Arguments(),
		Files: files.Files(), Stderr: stderr,
		Caged: true, Gate: gate, Light: s.Light,
	})
	if err != nil {
		return nil, Explain(err)
	}
	return p, nil
}
