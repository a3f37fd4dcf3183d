package seccomp

// programs is what starting another program takes: processes, though in no
// namespace of their own, and the loader, which maps code. But for the
// clipboard's, none leaves its process group, which ends with the program that began it.
func programs() group {
	return append(names(
		"arch_prctl", "dup", "dup2", "execve", "execveat", "fork", "getgroups", "getpgid",
		"getpgrp", "getpriority", "getrlimit", "getrusage", "mmap", "mprotect", "pipe", "poll", "ppoll",
		"pselect6", "select", "set_tid_address", "sysinfo", "times",
		"umask", "vfork",
	),
		when("clone", lacks(0, cloneNamespaces)),
		whenOneOf("prlimit64", 0, 0), // of this process: a limit can kill another
	)
}

// programFiles is how programs that are not Go's look at files. chdir changes
// nothing but the process itself.
func programFiles() group {
	return names(
		"access", "chdir", "faccessat", "faccessat2", "fchdir", "fstatfs", "lstat", "open", "readlink",
		"readlinkat", "stat", "statfs", "statx",
	)
}

// programWriting is writing by the C library's names.
func programWriting() group { return names("rename", "unlink") }

// lethal is the calls that end the process: none has a use in aibox, and each
// would be an attack on other processes, on the kernel, or a way out of a
// confinement. Only the plain ways to start a program are off this list where
// they are wanted.
func lethal(o Options) group {
	g := names(
		// Other processes.
		"kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
		// Namespaces and mounts.
		"chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount",
		"open_tree", "open_tree_attr", "pivot_root", "setns", "umount2", "unshare",
		// The kernel and the machine.
		"bpf", "delete_module", "finit_module", "init_module", "io_uring_enter", "io_uring_register",
		"io_uring_setup", "iopl", "ioperm", "kexec_file_load", "kexec_load", "modify_ldt",
		"perf_event_open", "reboot", "swapoff", "swapon", "userfaultfd",
		// Keys, and files by handle.
		"add_key", "keyctl", "name_to_handle_at", "open_by_handle_at", "request_key",
	)
	if !o.Exec {
		g = append(g, names("execve", "execveat")...)
	}
	return g
}
