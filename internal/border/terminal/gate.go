package terminal

import (
	"net"
	"sync"
)

// gate is a connection that is not read while output waits. The SSH package
// buffers a window of 2 MiB per channel, and a server that sends it in packets
// of one byte makes that many times more memory of it.
type gate struct {
	net.Conn
	mu     sync.Mutex
	free   *sync.Cond
	busy   int // outputs in a Write
	closed bool
}

func newGate(conn net.Conn) *gate {
	g := &gate{Conn: conn}
	g.free = sync.NewCond(&g.mu)
	return g
}

func (g *gate) Read(p []byte) (int, error) {
	g.mu.Lock()
	for g.busy > 0 && !g.closed {
		g.free.Wait()
	}
	g.mu.Unlock()
	return g.Conn.Read(p)
}

func (g *gate) Close() error {
	g.mu.Lock()
	g.closed = true
	g.free.Broadcast()
	g.mu.Unlock()
	return g.Conn.Close()
}

// during runs write while the gate is shut.
func (g *gate) during(write func() error) error {
	g.mu.Lock()
	g.busy++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.busy--
		g.free.Broadcast()
		g.mu.Unlock()
	}()
	return write()
}
