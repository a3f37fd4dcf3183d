//go:build linux

// Package rivals measures aibox's proxy alone, without a VM, beside other
// proxies.
package rivals

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"time"

	"aibox/internal/border/egress"
	"aibox/internal/hosts"
	"aibox/test/bench/load"
	"aibox/test/bench/peer"
	"aibox/test/bench/report"
)

const (
	proxyRounds   = 5
	proxyRequests = 10000
	proxyTunnels  = 3000
	steadyRate    = 2000 // a second, below what any of them can
	proxyBudget   = time.Minute
)

// Argument makes this program aibox's proxy alone, in a process of its own.
const Argument = "--proxy"

// Serve serves aibox's proxy on an address of the host's loopback, with one
// server that may be reached, until it is killed.
func Serve(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: --proxy ADDRESS SERVER")
	}
	entry, err := hosts.Parse(args[1])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	p := egress.New(egress.Config{Allow: hosts.List{entry}, OwnAddrs: []netip.Addr{}})
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go p.Serve(conn)
	}
}

// contender is one proxy with what it measured.
type contender struct {
	name    string
	start   func(dir string) (addr string, stop func(), err error)
	absent  string
	results map[string]report.Series
}

// What is measured of each proxy.
const (
	requestRate, requestTail = "requests", "request p99"
	steadyTail               = "steady p99"
	tunnelRate, tunnelTail   = "tunnels", "tunnel p99"
)

// Measure has the proxies take turns. This program must call Serve when its first
// argument is Argument. rest says what a missed goal is due to.
func Measure(m peer.Paths, rest string) ([]report.Row, error) {
	server, err := load.Serve()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	all := []*contender{
		{name: "aibox", start: func(string) (string, func(), error) { return startOurs(server.Addr) }},
		{name: "squid", start: m.Squid}, {name: "tinyproxy", start: m.Tinyproxy},
	}
	start := time.Now()
	for round := 0; round < proxyRounds && (round == 0 || time.Since(start) < proxyBudget); round++ {
		for _, c := range all {
			if err := c.round(server.Addr); err != nil {
				c.absent = err.Error()
			}
		}
	}
	if len(all[0].results) == 0 {
		return nil, errors.New("aibox's proxy: " + all[0].absent)
	}
	return proxyRows(all, rest), nil
}

func startOurs(server string) (string, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr := l.Addr().String()
	l.Close()
	return peer.Listening(exec.Command(self, Argument, addr, server), addr)
}

// round starts the proxy, warms it, and measures it.
func (c *contender) round(server string) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	addr, stop, err := c.start(dir)
	if err != nil {
		return err
	}
	defer stop()
	if _, err := load.Requests(addr, server, proxyRequests/20); err != nil {
		return err
	}
	requests, err := load.Requests(addr, server, proxyRequests)
	if err != nil {
		return err
	}
	steady, err := load.Steady(addr, server, steadyRate, proxyRequests/2)
	if err != nil {
		return err
	}
	tunnels, err := load.Tunnels(addr, server, proxyTunnels)
	if err != nil {
		return err
	}
	if c.results == nil {
		c.results = map[string]report.Series{}
	}
	for what, value := range map[string]float64{
		requestRate: requests.PerSecond, requestTail: requests.P99, steadyTail: steady.P99, tunnelRate: tunnels.PerSecond, tunnelTail: tunnels.P99,
	} {
		c.results[what] = append(c.results[what], value)
	}
	return nil
}

func proxyRows(all []*contender, rest string) (rows []report.Row) {
	for _, w := range []struct {
		name, what, unit string
		goal             report.Goal
	}{
		{"proxy alone: requests by 16 clients", requestRate, "requests/s", report.AtLeast(1)},
		{"proxy alone: 99th percentile of these", requestTail, "ms", report.AtMost(1)},
		{fmt.Sprintf("proxy alone: 99th percentile at %d requests/s", steadyRate), steadyTail, "ms", report.AtMost(1)},
		{"proxy alone: tunnels with one request by 16 clients", tunnelRate, "tunnels/s", report.AtLeast(1)},
		{"proxy alone: 99th percentile of these", tunnelTail, "ms", report.AtMost(1)},
	} {
		row := report.Row{Name: w.name, Unit: w.unit, Ours: all[0].results[w.what]}
		for _, c := range all[1:] {
			p := report.Peer{Name: c.name, Values: c.results[w.what], Absent: c.absent, Rest: rest}
			if c.name == "squid" {
				p.Goal = w.goal
			}
			row.Peers = append(row.Peers, p)
		}
		rows = append(rows, row)
	}
	return rows
}
