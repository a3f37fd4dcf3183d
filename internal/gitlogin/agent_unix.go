//go:build unix

package gitlogin

import "net"

func dialAgent(socket string) (net.Conn, error) { return net.DialTimeout("unix", socket, agentTime) }
