package bwrap

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"aibox/internal/fault"
	"aibox/internal/proc"
)

// ours is how every message of bubblewrap itself begins.
const ours = "bwrap: "

// Explain turns bubblewrap's own failures, to start or at run time, into a fault.Machine
// with a hint. Any other error is returned as it is.
func Explain(err error) error {
	var exit *proc.ExitError
	if errors.As(err, &exit) {
		if !strings.HasPrefix(exit.LastLine, ours) {
			return err
		}
		return explainLine(exit.LastLine, err)
	}
	// What clone(2) says where user namespaces are off or used up.
	for _, e := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EINVAL, syscall.EUSERS} {
		if errors.Is(err, e) {
			return refused(err)
		}
	}
	return err
}

func explainLine(line string, err error) error {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(line, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("Unknown option"):
		return fault.New(fault.Machine, "install bubblewrap 0.10 or newer, or your distribution's security update of it",
			"bubblewrap is too old: %w", err)
	case has("uid map", "gid map", "new namespace", "RTM_NEWADDR", "user namespace", "userns", "Creating new namespace", "Failed to make / slave"):
		return refused(err)
	case has("ns/ns failed"):
		// Bubblewrap looks its child up by a number of its own process namespace, which
		// a machine's own /proc always has and a container's may not.
		return fault.New(fault.Machine, "in a container, share the machine's process numbers: docker run --pid=host …",
			"bubblewrap does not find its own process in /proc: %w", err)
	case has("Race condition binding"):
		return fault.New(fault.Refused, "start again when nothing moves the folders that the VM gets",
			"a folder was replaced while the sandbox was made: %w", err)
	}
	return fault.New(fault.Machine, "", "make the sandbox: %w", err)
}

// The kernel's switches for user namespaces, and the value that refuses.
var switches = [...]struct{ file, refuses, hint string }{
	{"/proc/sys/user/max_user_namespaces", "0", "allow them: sudo sysctl -w user.max_user_namespaces=15000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1"},
}

// appArmor is 1 where AppArmor refuses user namespaces to programs without a
// profile that allows them: Ubuntu 24.04 and newer.
const appArmor = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

func refused(err error) error {
	return fault.New(fault.Machine, refusedHint(os.ReadFile),
		"this machine does not let users make the namespaces that confine the VM's programs: %w", err)
}

func refusedHint(read func(string) ([]byte, error)) string {
	is := func(file, value string) bool {
		b, err := read(file)
		return err == nil && strings.TrimSpace(string(b)) == value
	}
	if is(appArmor, "1") {
		return fmt.Sprintf("give aibox an AppArmor profile: put the line `abi <abi/4.0>, profile aibox %s flags=(unconfined) { userns, }`"+
			" into /etc/apparmor.d/aibox and run `sudo apparmor_parser -r /etc/apparmor.d/aibox`", executable())
	}
	for _, s := range switches {
		if is(s.file, s.refuses) {
			return s.hint
		}
	}
	return "inside a container, allow user namespaces and mounts in it; else ask the machine's administrator"
}

func executable() string {
	if exe, err := os.Executable(); err == nil {
		return exe
	}
	return "/usr/bin/aibox"
}
