// Package upstream talks to git servers for package gitgate: over HTTPS with a
// login; package overssh does it over SSH. The address comes from the
// project's config alone. Nothing the VM sends reaches a request's head or a
// command line: its bytes are bodies only.
//
// A server proves that it is the named one, by its certificate or by a known
// host key, before it gets anything. So a name that leads to an address of the
// host's own networks is no danger here, and is not refused: the user listed
// that repository.
package upstream
