package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// inMemory serves one connection of the VM in memory; the server at
// web.example's ports 80 and 443 is the other end. It is used in synctest bubbles,
// whose clock jumps when all wait.
func inMemory(t *testing.T) (client, server duplex) {
	t.Helper()
	client, mine := newDuplex()
	server, theirs := newDuplex()
	w := newWorld("")
	up := func() net.Conn { return theirs }
	w.pipes = map[string]func() net.Conn{"8.8.8.8:443": up, "8.8.8.8:80": up}
	p, _ := w.proxy(t, "web.example", "web.example:80")
	go p.Serve(mine)
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
		time.Sleep(time.Minute) // until all goroutines have noticed
	})
	return client, server
}

func readString(t *testing.T, r io.Reader, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if n, err := io.ReadFull(r, b); err != nil || string(b) != want {
		t.Fatalf("read %q, %v, want %q", b[:n], err, want)
	}
}

// drain reads in the background and returns what came once the reader ended.
func drain(r io.Reader) (text func() string) {
	done := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(r)
		done <- string(b)
	}()
	return func() string { return <-done }
}

// within runs f and checks how much time it took on the bubble's clock.
func within(t *testing.T, what string, least, most time.Duration, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if d := time.Since(start); d < least || d > most {
		t.Errorf("%s took %v, want %v to %v", what, d, least, most)
	}
}

func TestSlowClientsAreCut(t *testing.T) {
	for name, c := range map[string]struct {
		start, drip string
		least, most time.Duration
		want        string
	}{
		"says nothing":            {"", "", requestWait, requestWait, ""},
		"drips a head":            {"GET http://web.example/ HTTP/1.1\r\n", "A: b\r\n", headTime, headTime + 10*time.Second, "HTTP/1.1 408 "},
		"drips a request line":    {"G", "E", headTime, headTime + 10*time.Second, "HTTP/1.1 408 "},
		"stops within a body":     {"POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nContent-Length: 9\r\n\r\nx", "", bodyWait, bodyWait + time.Minute, "HTTP/1.1 400 "},
		"stops within the chunks": {"POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nx", "", bodyWait, bodyWait + time.Minute, "HTTP/1.1 400 "},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, server := inMemory(t)
			go func() { _, _ = io.Copy(io.Discard, server) }()
			within(t, name, c.least, c.most, func() {
				answer := drain(client)
				go func() {
					_, err := io.WriteString(client, c.start)
					for err == nil && c.drip != "" {
						time.Sleep(3 * time.Second)
						_, err = io.WriteString(client, c.drip)
					}
				}()
				if got := answer(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
					t.Errorf("%s: %q", name, got)
				}
			})
		})
	}
}

func TestIdleTunnelLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := inMemory(t)
		_, _ = io.WriteString(client, "CONNECT web.example:443 HTTP/1.1\r\n\r\n")
		readString(t, client, "HTTP/1.1 200 Connection established\r\n\r\n")
		for range 3 {
			time.Sleep(100 * time.Hour)
			_, _ = io.WriteString(client, "ping")
			readString(t, server, "ping")
			time.Sleep(100 * time.Hour)
			_, _ = io.WriteString(server, "pong")
			readString(t, client, "pong")
		}
	})
}

func TestHalfOpenTunnelEndsAfterSilence(t *testing.T) {
	for _, uses := range []int{0, 5} { // one that is used stays
		synctest.Test(t, func(t *testing.T) {
			client, server := inMemory(t)
			_, _ = io.WriteString(client, "CONNECT web.example:443 HTTP/1.1\r\n\r\n")
			readString(t, client, "HTTP/1.1 200 Connection established\r\n\r\n")
			_ = client.CloseWrite()
			if b, err := io.ReadAll(server); err != nil || len(b) > 0 {
				t.Fatalf("server: %q, %v", b, err)
			}
			for range uses {
				time.Sleep(halfOpenTime - time.Minute)
				_, _ = io.WriteString(server, "more")
				readString(t, client, "more")
			}
			_ = client.SetReadDeadline(time.Now().Add(3 * halfOpenTime))
			within(t, "silence", halfOpenTime, halfOpenTime, func() { _, _ = client.Read(make([]byte, 1)) })
		})
	}
}

func TestSilentResponseLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := inMemory(t)
		go func() { _, _ = io.WriteString(client, "GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\n") }()
		readString(t, server, "GET / HTTP/1.1\r\nHost: web.example\r\n\r\n")
		time.Sleep(10 * time.Hour)
		_, _ = io.WriteString(server, "HTTP/1.1 200 OK\r\n\r\n")
		readString(t, client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		time.Sleep(10 * time.Hour)
		go func() { _, _ = io.WriteString(server, "x") }()
		readString(t, client, "1\r\nx\r\n")
		// The client leaves: the server is not kept forever.
		_ = client.CloseWrite()
		within(t, "leaving", cutClientTime, cutClientTime, func() { _, _ = server.Read(make([]byte, 1)) })
	})
}

// TestBackPressure has a server that does not read, and counts what the client can send.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := inMemory(t)
		_, _ = io.WriteString(client, "CONNECT web.example:443 HTTP/1.1\r\n\r\n")
		readString(t, client, "HTTP/1.1 200 Connection established\r\n\r\n")
		flood := func(c duplex) *atomic.Int64 {
			var sent atomic.Int64
			go func() {
				for {
					n, err := c.Write(make([]byte, 1000))
					sent.Add(int64(n))
					if err != nil {
						return
					}
				}
			}()
			return &sent
		}
		up, down := flood(client), flood(server)
		synctest.Wait()
		if u, d := up.Load(), down.Load(); u > 3*bufferSize || d > 3*bufferSize || u == 0 || d == 0 {
			t.Errorf("sent %d up and %d down to sides that do not read", u, d)
		}
	})
}

// slow answers no lookup.
type slow struct{ *world }

func (s slow) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, &net.DNSError{Err: "i/o timeout", Name: host, Server: "192.0.2.53:53", IsTimeout: true}
}

func TestTimesToConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("hang")
		p, _ := w.proxy(t, "web.example")
		request := func(p *Proxy) string {
			client, mine := newDuplex()
			go p.Serve(mine)
			answer := drain(client)
			_, _ = io.WriteString(client, "CONNECT web.example:443 HTTP/1.1\r\n\r\n")
			return answer()
		}
		within(t, "dialing", 30*time.Second, 30*time.Second, func() {
			if got := request(p); !strings.HasPrefix(got, "HTTP/1.1 504 aibox: cannot connect to web.example:443: timed out") {
				t.Errorf("dialing: %q", got)
			}
		})
		p.router.Resolver = slow{w}
		within(t, "resolving", 15*time.Second, 15*time.Second, func() {
			if got := request(p); !strings.HasPrefix(got, "HTTP/1.1 502 aibox: cannot resolve web.example: the name servers did not answer") {
				t.Errorf("resolving: %q", got)
			}
		})
		time.Sleep(lingerTime) // both sessions end
	})
}
