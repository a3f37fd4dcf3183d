package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aibox/test/bench/work"
)

// clients is how many ask a proxy at once.
const clients = 16

// Outcome is how a proxy answered.
type Outcome struct {
	PerSecond float64
	P99       float64 // milliseconds
}

// Requests sends so many GETs in absolute form to a proxy, each client's one
// after the other on a connection that it keeps.
func Requests(proxy, server string, count int) (Outcome, error) {
	return drive(count, 0, get(proxy, server))
}

// Steady sends such GETs at a rate per second.
func Steady(proxy, server string, rate, count int) (Outcome, error) {
	return drive(count, rate, get(proxy, server))
}

// get returns what makes a client of its own for each caller.
func get(proxy, server string) func() func() error {
	request := fmt.Sprintf("GET http://%s%s HTTP/1.1\r\nHost: %s\r\n\r\n", server, work.PathSmall, server)
	return func() func() error {
		c := &client{proxy: proxy}
		return func() error { return c.ask(request) }
	}
}

// Tunnels makes so many connections through a proxy by CONNECT, and sends one
// request over each.
func Tunnels(proxy, server string, count int) (Outcome, error) {
	way := work.Way{Proxy: proxy, Server: server}
	return drive(count, 0, func() func() error { return way.Once })
}

// drive has clients do one thing until it was done count times: as fast as they
// can, or at a rate per second. At a rate the time counts from when the thing was
// due, so that what waits behind a slow answer is slow too.
func drive(count, rate int, newClient func() func() error) (Outcome, error) {
	var next atomic.Int64
	took := make([][]time.Duration, clients)
	failed := make([]error, clients)
	var all sync.WaitGroup
	start := time.Now()
	for i := range clients {
		all.Go(func() {
			do := newClient()
			for failed[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= count {
					return
				}
				began := time.Now()
				if rate > 0 {
					began = start.Add(time.Duration(n) * time.Second / time.Duration(rate))
					time.Sleep(time.Until(began))
				}
				failed[i] = do()
				took[i] = append(took[i], time.Since(began))
			}
		})
	}
	all.Wait()
	seconds := time.Since(start).Seconds()
	times := slices.Sorted(slices.Values(slices.Concat(took...)))
	if err := errors.Join(failed...); err != nil {
		return Outcome{}, err
	}
	return Outcome{float64(count) / seconds, times[len(times)*99/100].Seconds() * 1000}, nil
}

// client keeps a connection for as long as the proxy does.
type client struct {
	proxy string
	conn  net.Conn
	r     *bufio.Reader
}

// ask sends a request, anew if the proxy had ended the connection before it.
func (c *client) ask(request string) error {
	if c.conn != nil {
		if _, err := io.WriteString(c.conn, request); err == nil {
			if _, err := c.r.Peek(1); err == nil {
				return c.answer()
			}
		}
		c.conn.Close()
	}
	conn, err := net.Dial("tcp", c.proxy)
	if err != nil {
		return err
	}
	c.conn, c.r = conn, bufio.NewReader(conn)
	if _, err := io.WriteString(c.conn, request); err != nil {
		return err
	}
	return c.answer()
}

func (c *client) answer() error {
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != work.SmallBytes || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s with %d bytes: %w", resp.Status, n, err)
	}
	if resp.Close {
		err := c.conn.Close()
		c.conn = nil
		return err
	}
	return nil
}
