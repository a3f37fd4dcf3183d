package egress

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// FuzzServe sends any bytes as one connection of the VM. The proxy must come
// to an end, answer in HTTP, dial nothing but the one allowed host, and send that
// host requests that name it and no other.
func FuzzServe(f *testing.F) {
	f.Add("GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\n\r\nGET http://web.example:80/x HTTP/1.0\r\n\r\n")
	f.Add("POST http://web.example/ HTTP/1.1\r\nHost: web.example\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n")
	f.Add("PUT http://web.example/?a HTTP/1.1\r\nHost: WEB.example.:80\r\nContent-Length: 3\r\nConnection: x\r\nX: y\r\n\r\nabcGET / HTTP/1.1\r\n\r\n")
	f.Add("GET http://web.example/ HTTP/1.1\r\nHost: web.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nbytes")
	f.Add("CONNECT web.example:80 HTTP/1.1\r\nHost: web.example:80\r\n\r\nGET / HTTP/1.1\r\nHost: web.example\r\n\r\n")
	f.Add("CONNECT localhost:80 HTTP/1.1\r\n\r\n")
	f.Add("CONNECT 0x7f.1:80 HTTP/1.1\nHost: \x00\r\n\r\n")
	f.Fuzz(func(t *testing.T, sent string) {
		var servers sync.WaitGroup
		w := newWorld("")
		w.pipes = map[string]func() net.Conn{"8.8.8.8:80": func() net.Conn {
			mine, theirs := newDuplex()
			servers.Go(func() { oneRequest(t, mine, sent) })
			return theirs
		}}
		p, rec := w.proxy(t, "web.example:80")
		client, mine := newDuplex()
		_ = client.SetDeadline(time.Now().Add(20 * time.Second))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p.Serve(mine)
		}()
		go func() {
			_, _ = io.WriteString(client, sent)
			_ = client.CloseWrite()
		}()
		answer, err := io.ReadAll(client)
		if err != nil || len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 ") {
			t.Errorf("answer to %q: %q, %v", sent, answer, err)
		}
		_ = client.Close()
		<-ended
		servers.Wait()
		_, dials := w.asked()
		for _, d := range dials {
			if d != "8.8.8.8:80" {
				t.Errorf("%q led to %s", sent, d)
			}
		}
		if len(rec.Reached()) > 1 || len(rec.Reached()) == 1 && rec.Reached()[0].Target != "web.example:80" {
			t.Errorf("reached %v", rec.Reached())
		}
	})
}

// oneRequest is a server that answers one request, which must name it.
func oneRequest(t *testing.T, conn duplex, sent string) {
	defer func() { _ = conn.Close() }()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return // a tunnel carries anything
	}
	if tunnel := strings.Contains(sent, "CONNECT"); !tunnel && (r.Host != "web.example" || r.URL.Host != "" || len(r.Header["Proxy-Authorization"]) > 0) {
		t.Errorf("%q made the request %s for %s", sent, r.URL, r.Host)
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	_ = conn.CloseWrite()
	_, _ = io.Copy(io.Discard, conn)
}
