// Package httphead reads the heads of HTTP/1 requests strictly: what two
// programs could understand in two ways is refused, not repaired.
//
// Who sends these bytes: any program in the VM, to the proxy of package egress.
//
// Limits: the constants below.
//
// What an attacker gains: nothing; a head is decided upon by package route, and what
// goes to a server is written anew.
//
// What is logged: nothing.
package httphead

// Limits on a head, in bytes and counts.
const (
	MaxLine    = 16 << 10 // one line; the size of the buffer that Read needs
	maxHead    = 64 << 10 // request line and header together
	maxFields  = 128      // header lines
	maxTrailer = 8 << 10  // after a chunked body
	maxMethod  = 32
)
