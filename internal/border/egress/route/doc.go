// Package route decides which connections the VM gets, and makes them. It
// reads no byte that the VM wrote but the host and port of a request.
//
// Who sends these bytes: any program in the VM, through package egress.
//
// Limits: the constants below.
//
// What an attacker gains: connections to allowed hosts and ports, no others. A name is
// checked before it is resolved, each address it resolves to is checked before one is
// dialed, and only the checked addresses are dialed.
//
// What is logged: nothing here; errors carry the line for the log and the user.
package route

import "time"

const (
	resolveTime = 15 * time.Second
	dialTime    = 30 * time.Second // all addresses together
	dialStagger = 300 * time.Millisecond
	maxAddrs    = 16  // addresses of one name that are dialed; all are checked
	maxTarget   = 300 // bytes of a target that could not be read, in a refusal
	maxReason   = 500 // bytes of the explanation in a refusal
)
