// Package run is the one lifecycle of a VM on a project: prepare, start what
// faces the VM, boot, lock down, serve, session, stop. It is the only joint
// between the machines (vm, share) and the border (what reads the VM's bytes).
//
// Everything that is needed later is opened before the lock-down and passed as
// a value. Every step of the start pushes its undo, so that an error anywhere
// leaves nothing behind.
package run
