package seccomp

// call is a system call's name and the arguments with which it is meant:
// any, if there is no condition; else all conditions of one element of when.
type call struct {
	name string
	when [][]condition
}

// condition is about the argument with index arg. Only is compares all 64 bits;
// the bits of has and lacks are below 1<<32.
type condition struct {
	arg   uint32
	test  test
	value uint64
}

type test int

const (
	equals    test = iota // the argument is value
	anyBitSet             // at least one bit of value is set
	noBitSet              // no bit of value is set
)

type group []call

func names(names ...string) group {
	g := make(group, 0, len(names))
	for _, n := range names {
		g = append(g, call{name: n})
	}
	return g
}

// when is a call with one set of conditions.
func when(name string, conditions ...condition) call {
	return call{name: name, when: [][]condition{conditions}}
}

// whenOneOf is a call whose argument arg has one of the values.
func whenOneOf(name string, arg uint32, values ...uint64) call {
	c := call{name: name}
	for _, v := range values {
		c.when = append(c.when, []condition{is(arg, v)})
	}
	return c
}

func is(arg uint32, value uint64) condition   { return condition{arg, equals, value} }
func has(arg uint32, bit uint64) condition    { return condition{arg, anyBitSet, bit} }
func lacks(arg uint32, bits uint64) condition { return condition{arg, noBitSet, bits} }

// allowed returns the calls that pass in the process pid. A call may be in
// several groups; it passes if one of them lets it.
func allowed(o Options, pid int) []group {
	groups := []group{frequent(), runtimeCalls(), threads(), signals(o, pid), files()}
	for _, extra := range []struct {
		on    bool
		group group
	}{
		{o.Internet, internet()},
		{o.Terminal, terminal()},
		{o.Desktop, desktop()},
		{o.List, listing()},
		{o.Write, writing()},
		{o.Tree, tree()},
		{o.Modes, names("fchmodat", "utimensat")},
		{o.Exec, programs()},
		{o.Exec, programFiles()},
		{o.Exec && o.Write, programWriting()},
	} {
		if extra.on {
			groups = append(groups, extra.group)
		}
	}
	return groups
}

// frequent is what aibox calls most; the filter reads its list from the front.
func frequent() group {
	return names("read", "write", "futex", "epoll_pwait", "nanosleep")
}

// runtimeCalls is what the Go runtime needs for memory, time and its poller,
// and what tells a process only about itself.
func runtimeCalls() group {
	const protExec = 4 // new code cannot be mapped
	return append(names(
		"brk", "clock_getres", "clock_gettime", "clock_nanosleep",
		"epoll_create1", "epoll_ctl", "epoll_wait", "eventfd2",
		"exit", "exit_group", "getegid", "geteuid", "getgid", "getpid",
		"getppid", "getrandom", "gettid", "gettimeofday", "getuid", "madvise",
		"mincore", "munmap", "pipe2",
		"restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
		"sched_getaffinity", "sched_yield", "sigaltstack", "time", "uname",
	), when("mmap", lacks(2, protExec)), when("mprotect", lacks(2, protExec)))
}

// threads is clone for threads of this process, and what a new one calls.
func threads() group {
	return append(names("rseq", "set_robust_list"),
		when("clone", has(0, cloneThread), lacks(0, cloneNamespaces)))
}

// Flags of clone.
const (
	cloneThread = 0x00010000
	// cloneNamespaces is CLONE_NEW- NS, CGROUP, UTS, IPC, USER, PID and NET.
	cloneNamespaces = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 |
		0x10000000 | 0x20000000 | 0x40000000
)

// signals is sending them to oneself and the listed processes, and waiting for
// children. pidfd_send_signal needs no limit: no call here opens a pidfd, so the
// process has only those of its children.
func signals(o Options, pid int) group {
	kill := whenOneOf("kill", 0, uint64(pid))
	for _, p := range o.Signal {
		kill.when = append(kill.when, []condition{is(0, uint64(p))})
	}
	return append(names("pidfd_send_signal", "wait4", "waitid"),
		kill, whenOneOf("tgkill", 0, uint64(pid)))
}

// files is the use of open files, and opening what Landlock lets be opened.
// Landlock does not know some calls that take a path (chmod, chown, utimes,
// extended attributes, chdir): they are not here. fcntl is without the commands
// that have the kernel send signals to other processes.
func files() group {
	const (
		dupFD, getFD, setFD, getFL, setFL = 0, 1, 2, 3, 4
		dupFDCloexec                      = 1030
	)
	return append(names(
		"close", "copy_file_range", "dup3", "fdatasync", "flock", "fstat", "fstatat",
		"fsync", "ftruncate", "getcwd", "lseek", "newfstatat", "openat", "pread64",
		"pwrite64", "readv", "sendfile", "splice", "writev",
	), whenOneOf("fcntl", 1, dupFD, getFD, setFD, getFL, setFL, dupFDCloexec))
}

// terminal is what raw mode, the window's size and waiting for a key need.
// TIOCSTI and TIOCLINUX, which type for the user, are among the many that it
// leaves out.
func terminal() group {
	const tcGets, tcSets, tcSetsW, tcSetsF, winSize = 0x5401, 0x5402, 0x5403, 0x5404, 0x5413
	return append(names("poll", "ppoll"), whenOneOf("ioctl", 1, tcGets, tcSets, tcSetsW, tcSetsF, winSize))
}

// writing is what changes a file tree, by calls that Landlock limits all, and
// fchmod, which needs an open file.
func writing() group {
	return names("fchmod", "mkdirat", "renameat", "renameat2", "unlinkat")
}

// listing is reading folders, and openat2, which opens a path inside a folder
// without following links. Landlock limits both.
func listing() group { return names("getdents64", "openat2") }

// tree is what a server of files needs beyond writing and listing. utimensat has
// no path there, so it is about an open file.
func tree() group {
	return append(names("fstatfs", "linkat", "readlinkat", "symlinkat"), when("utimensat", is(1, 0)))
}
