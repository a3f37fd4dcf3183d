// Package egress is the VM's way to the network: an HTTP proxy that connects
// only to the hosts and ports of the project's allow list.
//
// Who sends these bytes: any program in the VM, one stream per connection. A
// stream starts with HTTP request heads, which package httphead reads; the bytes
// of a tunnel are passed on and never looked at.
//
// Limits: limits.go. What goes to a server is written anew from what was
// understood.
//
// What an attacker gains: what package route lets through, connections to
// allowed hosts and ports.
//
// What is logged: each host and port connected or refused, by record.Recorder.
package egress
