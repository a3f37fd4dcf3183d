// Package conns makes connections on this machine, and keys for them, for tests of what serves one.
package conns

import (
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// Serve listens on a free port of 127.0.0.1 and serves each connection in a
// goroutine of its own. At the end of the test it closes those that are left,
// which a client may still keep for later requests, and waits for all of them.
func Serve(t testing.TB, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		all   sync.WaitGroup
		conns []net.Conn // the accepting goroutine's until accepted is closed
	)
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, conn)
			all.Go(func() { serve(conn) })
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-accepted
		for _, conn := range conns {
			_ = conn.Close()
		}
		all.Wait()
	})
	return l.Addr().String()
}

// TCP is Unix over the loopback, whose connections can also be reset.
func TCP(t testing.TB) (dialed, accepted *net.TCPConn) {
	t.Helper()
	a, b := pair(t, "tcp4", "127.0.0.1:0")
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

// Unix returns the ends of a connection, whose writes are buffered and whose
// directions end apart. They are closed at the end of the test.
func Unix(t testing.TB) (dialed, accepted *net.UnixConn) {
	t.Helper()
	a, b := pair(t, "unix", filepath.Join(t.TempDir(), "s"))
	return a.(*net.UnixConn), b.(*net.UnixConn)
}

func pair(t testing.TB, network, address string) (dialed, accepted net.Conn) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if dialed, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dialed.Close() })
	if accepted, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accepted.Close() })
	return dialed, accepted
}
