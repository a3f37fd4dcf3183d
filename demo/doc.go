// Package demo is what `aibox demo` shows: the real Claude Code mends a sample
// project in a VM, with replies that a scripted Messages API on the host gives.
// It doubles as a self-test of the user's machine: what Claude Code does has to be
// seen both in its output and by the API, and what fails names what to fix.
//
// The VM itself comes in as a Runner, so that the script can be tried against
// the real Claude Code without one.
//
// Who sends the bytes read here: the VM. Requests reach API through the key
// forwarder, the command's output reaches stream, and the sample's file is read
// back once the VM is gone. Limits: limits.go. What an attacker gains: a demo
// that passes or fails wrongly; no byte of the VM is run, and the key of a demo
// opens nothing. What is shown: only text made harmless by package plain.
package demo
