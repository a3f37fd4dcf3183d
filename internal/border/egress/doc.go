// Package egress is the VM's way to the network: an HTTP proxy that connects
// only to the hosts and ports of the project's allow list.
//
// Who sends these bytes: any program in the VM, one stream per connection. A
// stream starts with HTTP request heads, which head.go parses strictly; the
// bytes of a tunnel are passed on and never looked at.
//
// Limits: limits.go. What is ambiguous in HTTP is refused, not repaired, and
// what goes to a server is written anew from what was understood.
//
// What an attacker gains: connections to allowed hosts and ports, no others.
// A name is checked before it is resolved, each address it resolves to is checked
// before one is dialed, and only the checked addresses are dialed.
//
// What is logged: each host and port connected or refused, by Recorder.
package egress
