// Package terminal runs one command or shell in the VM over SSH, as the client,
// and lends it the user's terminal. docs/protocol.md describes the session.
//
// Who sends these bytes: whoever answers on the ssh stream in the VM. The host
// key proves that it had this boot's key, which every process with the rights of
// the VM's root can read; so nothing is believed.
//
// What limits apply: limits.go. The handshake, the login and the start of the
// command share one deadline. Channels and global requests from the server are
// refused and counted, banners are dropped, the channel's requests are counted.
// While the terminal (or Stdout, Stderr) does not take output, nothing more is
// read from the link, so that at most one SSH window is ever buffered.
//
// What an attacker gains: what it writes on the user's terminal, which is the
// purpose of an interactive session, and the exit code. It gets the user's keys
// while the session lasts. Where it leaves the terminal's modes on, or dies in
// the middle, they are switched off at the end.
//
// What is logged: nothing. Errors hold at most one printable line of its text.
package terminal
