//go:build linux

package main

import (
	"time"

	"aibox/test/bench/load"
	"aibox/test/bench/peer"
	"aibox/test/bench/report"
	"aibox/test/bench/work"
)

// netRounds is how often each VM does the work on the network.
const (
	netRounds = 5
	netBudget = 2 * time.Minute
)

const (
	ourNet  = "net"
	qemuNet = "qemu-net"
)

// network measures the way from a VM to a server on the host: aibox's proxy, and
// QEMU's user networking in a VM of Debian's kernel, since aibox's has no network.
func (m machine) network(server *load.Server) ([]report.Row, error) {
	p, remove, err := m.newPlace("allow: [\"" + server.Addr + "\"]\n")
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := p.addGuest(); err != nil {
		return nil, err
	}
	s := newSides()
	err = rounds(netRounds, netBudget, func(int) error {
		o, err := p.guestJobs(ourNet + "=net:127.0.0.1:3128," + server.Addr)
		s.add(o, err, ourNet)
		o, err = m.Run(peer.VM{Stock: true, Jobs: []string{qemuNet + "=net:,10.0.2.2:" + server.Port()}, Extra: []string{
			"-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net"}})
		s.add(o, err, qemuNet)
		return nil
	})
	return networkRows(s), err
}

func networkRows(s sides) (rows []report.Row) {
	for _, w := range []struct{ name, what, unit string }{
		{"network: download of 64 MB", work.Download, "MB/s"},
		{"network: upload of 64 MB", work.Upload, "MB/s"},
		{"network: 1,000 small requests on one connection", work.Requests, "requests/s"},
		{"network: connections with one request", work.Connects, "connections/s"},
	} {
		rows = append(rows, report.Row{Name: w.name, Unit: w.unit, Ours: s.values[ourNet+"/"+w.what], Peers: []report.Peer{
			s.peer("user networking of QEMU, virtio-net, Debian's kernel", qemuNet, w.what, report.AtLeast(1), restNetwork),
		}})
	}
	return rows
}
