// Package control speaks the host's side of the control stream: it tells init
// what to boot, learns that the session can start or why it cannot, and asks
// for the power-off. docs/protocol.md describes the messages.
//
// Who sends these bytes: whoever opened the control stream in the VM, init in
// an honest one. Nothing is believed but that the VM says so.
//
// What limits apply: limits.go. One message of at most wire.MaxToHost bytes is
// read, before a deadline; each text in it becomes one printable line and is
// cut; the number of steps is capped. A second message ends the stream.
//
// What an attacker gains: a session that starts early or never, a false reason
// for a failed boot, false timings. All of it is the VM's own word and is
// shown as such.
//
// What is logged: nothing here. Errors carry at most one line of the VM's text.
package control
