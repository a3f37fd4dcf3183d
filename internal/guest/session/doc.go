// Package session is the SSH server of the VM: the host's terminal is its one
// client. It accepts the one key of this boot, runs commands and shells as the
// user, each in a control group of its own, and ends with them whatever they
// left running.
package session
