package relay

import (
	"strconv"

	"aibox/internal/wire"
)

// Port is a port of the VM's loopback and where its connections go.
type Port struct {
	Number  uint16
	Service string
	// Target, if set, is asked for by CONNECT before the bytes pass.
	Target string
}

// Ports lists what a VM serves: the proxy, the services of the host that this
// run has, and the listed ports of the host's loopback.
func Ports(boot wire.Boot) []Port {
	list := []Port{{Number: wire.ProxyPort, Service: wire.ServiceProxy}}
	if boot.API {
		list = append(list, Port{Number: wire.APIPort, Service: wire.ServiceAPI})
	}
	if boot.GitBroker {
		list = append(list, Port{Number: wire.GitPort, Service: wire.ServiceGit})
	}
	if boot.IDE {
		list = append(list, Port{Number: wire.IDEPort, Service: wire.ServiceIDE})
	}
	if boot.Clipboard {
		list = append(list, Port{Number: wire.ClipboardPort, Service: wire.ServiceClipboard})
	}
	for _, h := range boot.HostPorts {
		// The proxy knows which of the two loopback addresses is listed.
		target := "localhost:" + strconv.Itoa(int(h.Port))
		list = append(list, Port{Number: h.Port, Service: wire.ServiceProxy, Target: target})
	}
	return list
}
