// Package gitgate lets git in the VM fetch from and push to the repositories of
// the project's config, with the login that the host has. The login stays here.
//
// Who sends these bytes: any program in the VM, one stream per connection, as
// HTTP requests of git's smart protocol. net/http reads the heads; target.go
// takes a request only if its target is exactly a listed repository and one of
// git's four, and of all else in a head only the body's encoding is used.
// Packages fetch and push read the bodies, package pktline their packets.
//
// Limits: limits.go, and those of these packages. A body or an answer of any
// size takes a few buffers of memory, since it is passed on as it comes.
//
// What an attacker gains: reading listed repositories and moving listed
// branches of these, by pushes that the server's own rules still judge. Which
// server, path, login and command come from the config and the host alone.
//
// What is logged: each repository fetched from, each branch a push of which was
// passed on, and each refusal, by Recorder.
package gitgate
