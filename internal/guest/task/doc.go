// Package task is the guest's side of a task: it makes the project from the
// bundle in the read-only share, runs Claude Code on it, commits what was left
// uncommitted, and sends the results. docs/protocol.md describes the session.
//
// Every step runs as the user in a control group of its own, with a deadline, and
// what it left running is killed at its end. Results are kept where only init can
// write, so that what Claude Code starts cannot change them later.
package task
