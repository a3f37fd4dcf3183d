// Package results reads what a task's VM sends: while it works, what Claude Code
// prints, and at its end a tar of known files, among them a git bundle.
//
// Who sends these bytes: init in the VM, or whoever took its place there.
//
// What limits apply: limits.go and those of package wire. What Claude Code prints
// comes over one stream per file and is cut at its limit. The tar's headers are
// not interpreted but compared with the one header that a known name and size can
// have, each name comes at most once and in order, result.json last, and nothing
// follows the end. A bundle's header is checked before one byte of the bundle is
// passed on: exactly the task's branch, and no prerequisite but the start commit.
// The count of objects must be possible, and the pack must end in its own hash.
//
// What an attacker gains: the contents of four files in the task's folder, of
// bounded size, which aibox stores and does not interpret; a bundle with any
// objects, but with one branch on top of the start commit; and a few numbers
// and lines that aibox shows as the VM's word.
//
// What is logged: nothing. Errors quote names as %q, capped.
package results
