// Package overssh reaches the repositories of package gitgate over SSH, with the
// keys and the agent that the host's ssh would use.
//
// The VM's bytes are a program's input here and nothing else: which program, for
// which path, as which user and at which server comes from the config and the
// host. What the server sends is read as package gitgate passes it on; beside
// it, a little of what it says as an error.
package overssh
