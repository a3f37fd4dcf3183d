// Package boot is the life of init: a table of steps that turn a kernel with a
// read-only disk into the VM that sessions expect, the time in which sessions and
// forwarders are served, and the power-off that leaves clean disks.
//
// Init trusts the host. It does not trust the user's processes, nor what they
// left in the home and on the state disk in earlier boots: paths below these
// are resolved without leaving them, and no program from there runs as root.
//
// A panic in a step or in the main loop powers off like any failure. One
// elsewhere ends the process and with it, as it is process 1, the kernel: the
// trace is on the console and ext4's journal keeps the state disk whole.
package boot
