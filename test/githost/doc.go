// Package githost serves git repositories on loopback for tests: git's own
// http-backend behind TLS with basic auth, and OpenSSH's server. Both are the
// real programs. Who starts a server closes it.
package githost
