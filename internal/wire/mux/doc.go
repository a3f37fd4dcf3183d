// Package mux holds what both ends of a serial link add to yamux, at the level
// of bytes and without importing it.
//
// yamux cannot reset one stream: its Close is a half-close, and its timer for
// streams that never finish also cuts long half-closed ones. So Conn sits
// between yamux and the connection, sees every frame of both directions, and
// can put a reset between two frames; Stream builds on it a net.Conn whose
// CloseWrite, Close and Abort mean what they mean on TCP. docs/protocol.md
// names the settings of yamux that both ends share.
package mux
