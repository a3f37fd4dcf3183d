// Package relay serves ports on the VM's loopback and carries each connection
// as one stream to the host.
//
// The bytes pass as they are, both directions on their own: the end of one
// leaves the other open. A connection holds at most one buffer and one window
// in each direction, so a side that does not read stops the other side and
// nothing piles up here.
package relay
