// Package reap is the one place of init that starts processes and waits for
// them.
//
// PID 1 inherits every orphan of the VM and must wait for children it never
// started, so it waits for any child. os/exec and os.StartProcess wait for
// their own child by pid; beside a wait for any child one of the two finds the
// status gone. Waiting only for "unknown" children is no way out: a child can
// end before its pid is known to anyone, and peeking without reaping shows the
// same zombie again and again while others pile up behind it.
//
// So one loop owns wait4, and Start forks while it holds the same lock that
// every single wait takes. The loop can therefore never see a child that is
// not registered yet, and a failed fork is waited for by syscall.ForkExec
// itself, undisturbed. A pid is signalled under that lock too, and only as
// long as its status was not taken, so that no signal hits a stranger that got
// the same number.
package reap
