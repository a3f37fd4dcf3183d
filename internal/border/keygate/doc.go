// Package keygate passes the VM's calls to the Claude API on with the user's
// real key, which stays on the host.
//
// Who sends these bytes: any program in the VM, HTTP on one stream per connection.
//
// Limits: limits.go. Only paths of path.go pass, to the one upstream that the host side
// set, whatever host a request names. What goes upstream is written anew by net/http
// from what was understood, without the VM's own credentials.
//
// What an attacker gains: calls of the API on the user's bill, as with any key
// that Claude Code may use, and no sight of the key. The key is removed from
// response headers; an upstream that repeats a key in a body would give it away,
// which the Claude API does not.
//
// What is logged: localhost:3129 as a host reached, and refusals to the Logger.
package keygate
