package seccomp

// desktop is what a client of the display server needs, and what ends a program
// that waits for it in vain: a process group, kill, whose targets are not known
// when the filter is made, and the parent-death signal.
func desktop() group {
	const afUnix, setDeathSignal = 1, 1
	return append(names(
		"connect", "getpeername", "getsockname", "getsockopt", "kill", "recvfrom", "recvmsg", "sendmsg",
		"sendto", "setpgid", "setsockopt", "shutdown",
	),
		whenOneOf("socket", 0, afUnix),
		whenOneOf("prctl", 0, setDeathSignal),
	)
}
