// Package link turns the one connection with the VM into named streams. Over a
// serial port it runs yamux behind a guard that judges every frame; over a
// transport that has streams of its own it takes those. docs/protocol.md
// describes the bytes.
//
// Who sends these bytes: anything in the VM that reaches the serial port or a
// socket to the host, so the guest's kernel at worst. Nothing is believed.
//
// What limits apply: limits.go. Per frame the guard checks type, flags, stream
// and length before yamux sees it; per stream at most one window of unread data
// is kept (yamux's buffer for it may grow to four times that); streams that live
// and streams that wait to be accepted are counted; a stream names its service
// within HandshakeTimeout or is closed. yamux's own dangers are shut: a ping
// would start a goroutine each, a go-away would stop the host from opening
// streams, a foreign or doubled id would replace a stream, and its errors would
// be answered with frames that a VM which reads nothing lets wait forever.
//
// What an attacker gains by breaking the rules: the end of the link, and with it
// of the VM, with one line that says why. By keeping them: at most MaxStreams
// goroutines in handlers and MaxStreams MiB of memory, and one busy core while it
// sends at full speed. A VM that reads nothing stalls its own streams alone.
//
// What is logged: refused streams and handlers that panicked, at most MaxLogged
// lines per link, with service names (a-z0-9) and fixed words, never with bytes
// the VM chose.
package link
