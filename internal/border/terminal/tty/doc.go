// Package tty puts the user's terminal into raw mode for a session in the VM and
// brings it back whatever happens.
//
// Who sends these bytes: a program in the VM, through the session's output.
// They reach the terminal as they are; this package only follows them, to know
// which modes a program left on.
//
// What limits apply: limits.go. The parser keeps one state and one sequence's
// parameters, both bounded; restoring writes at most a few hundred bytes and
// gives up on a terminal that takes none.
//
// What an attacker gains: modes that this package does not know stay on. While
// the session lasts it owns the terminal anyway.
//
// What is logged: nothing.
package tty
