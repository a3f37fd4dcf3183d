// Package idebridge connects Claude Code in the VM with the user's IDE, whose
// token stays on the host. It is a WebSocket server to the one and a client of the
// other, and passes on the few messages of package policy.
//
// Who sends these bytes: any program in the VM that knows this run's token, which
// is in the VM's home; and the user's IDE.
//
// What limits apply: limits.go, and those of package message. One client at a time.
//
// What an attacker gains: diffs that the user sees in the IDE and may accept,
// titles of these, the diagnostics of the project's files, and what the user
// selects in these while the IDE is open. It cannot name a file outside the project,
// run code, or open and read files. A file that it swaps for a link while the user
// looks at a diff of it is where the IDE then writes what the user accepts.
//
// What is logged: what was held back, by Config.HeldBack.
package idebridge
