package seccomp

// Values of Linux, equal on amd64 and arm64.
const (
	afInet, afInet6        = 2, 10
	sockStream, sockDgram  = 1, 2
	sockFlags              = 0o2000000 | 0o4000 // close-on-exec, non-blocking: as package net asks
	protoTCP, protoUDP     = 6, 17
	solSocket, solIPv6     = 1, 41
	msgFastOpen            = 0x20000000
	optLingerSocket        = 13
	optKeepAlive           = 9
	optBroadcast           = 6
	optReuseAddr           = 2
	optSendBuf, optRecvBuf = 7, 8
	optV6Only              = 26
)

// internet is what clients of TCP and UDP need.
//
// Landlock limits ports in connect for plain TCP alone. So other stream
// protocols (MPTCP, SCTP, SMC) and raw sockets cannot be made, and data in a
// TCP Fast Open, which connects without connect, cannot be sent. Unix sockets
// cannot be made since Landlock before Linux 7.x does not limit which of them
// are connected to, and a message bus or an agent behind one would do anything
// for the user's own processes. accept4 serves listeners made before.
func internet() group {
	return append(names(
		"accept4", "connect", "getpeername", "getsockname", "recvfrom", "recvmsg", "shutdown",
	),
		sockets(),
		when("sendto", lacks(3, msgFastOpen)),
		when("sendmsg", lacks(2, msgFastOpen)),
		whenOneOf("getsockopt", 1, solSocket),
		options(),
	)
}

func sockets() call {
	c := call{name: "socket"}
	for _, family := range []uint64{afInet, afInet6} {
		for _, kind := range [][2]uint64{{sockStream, protoTCP}, {sockDgram, protoUDP}} {
			for _, protocol := range []uint64{0, kind[1]} {
				c.when = append(c.when, []condition{
					is(0, family), is(1, kind[0]|sockFlags), is(2, protocol),
				})
			}
		}
	}
	return c
}

// options is the options of sockets that package net and its users set.
func options() call {
	const tcpNoDelay, tcpKeepIdle, tcpKeepInterval, tcpKeepCount, tcpUserTimeout = 1, 4, 5, 6, 18
	c := call{name: "setsockopt"}
	for _, o := range [][2]uint64{
		{solSocket, optReuseAddr}, {solSocket, optBroadcast}, {solSocket, optSendBuf}, {solSocket, optRecvBuf},
		{solSocket, optKeepAlive}, {solSocket, optLingerSocket}, {solIPv6, optV6Only},
		{protoTCP, tcpNoDelay}, {protoTCP, tcpKeepIdle}, {protoTCP, tcpKeepInterval}, {protoTCP, tcpKeepCount},
		{protoTCP, tcpUserTimeout},
	} {
		c.when = append(c.when, []condition{is(1, o[0]), is(2, o[1])})
	}
	return c
}
