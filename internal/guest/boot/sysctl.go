package boot

// setting is a file below /proc/sys and its value.
type setting struct{ name, value string }

// kernelSettings are set best effort: not every kernel knows all of them.
func kernelSettings() []setting {
	return []setting{
		// Nothing of the kernel's addresses or log for the user.
		{"kernel/dmesg_restrict", "1"},
		{"kernel/kptr_restrict", "2"},
		{"kernel/yama/ptrace_scope", "1"},
		{"fs/protected_symlinks", "1"},
		{"fs/protected_hardlinks", "1"},
		{"fs/protected_fifos", "1"},
		{"fs/protected_regular", "2"},
		{"fs/suid_dumpable", "0"},
		// The console goes into a file of the host, which crashing programs
		// and killed memory hogs must not fill.
		{"debug/exception-trace", "0"},
		{"vm/oom_dump_tasks", "0"},
		{"kernel/printk", "3 4 1 3"},
		// Editors, bundlers and databases need more than the defaults.
		{"fs/inotify/max_user_watches", "524288"},
		{"fs/inotify/max_user_instances", "1024"},
		{"vm/max_map_count", "1048576"},
		{"kernel/keys/maxkeys", "2000"},
	}
}
