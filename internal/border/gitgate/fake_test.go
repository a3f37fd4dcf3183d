package gitgate

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"aibox/internal/border/gitgate/pktline"
	"aibox/internal/border/gitgate/upstream"
)

const (
	fetchURI = "/" + testRepo + "/git-upload-pack"
	pushURI  = "/" + testRepo + "/git-receive-pack"
)

var (
	idA  = strings.Repeat("a", 40)
	idB  = strings.Repeat("b", 40)
	caps = "\x00 report-status side-band-64k agent=git/2"
)

// fakeServer is a repository's server without a network.
type fakeServer struct {
	answer io.Reader // of each exchange; nil for none
	err    error
	hang   bool // answer nothing until the request is given up

	mu     sync.Mutex
	bodies [][]byte // what exchanges began with
	sizes  []int64
}

func (f *fakeServer) Advertise(_ context.Context, service upstream.Service) (io.ReadCloser, error) {
	offer := "version 2\n"
	if service == upstream.ReceivePack {
		offer = idA + " refs/heads/main" + "\x00report-status push-options\n"
	}
	return io.NopCloser(bytes.NewReader(pktline.AppendFlush(pktline.AppendString(nil, offer)))), f.err
}

func (f *fakeServer) Exchange(ctx context.Context, _ upstream.Service, body io.Reader, size int64) (io.ReadCloser, error) {
	if f.err != nil {
		return nil, f.err
	}
	if f.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	kept, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err == nil {
		_, err = io.Copy(io.Discard, body)
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies, f.sizes = append(f.bodies, kept), append(f.sizes, size)
	answer := f.answer
	if answer == nil {
		answer = strings.NewReader("0000")
	}
	return io.NopCloser(answer), nil
}

// fakeGate is a gate to one fake server.
func fakeGate(f *fakeServer) (*Gate, *record) {
	rec := &record{}
	g := New(Config{Repos: []Repo{{Remote: testRepo, Fetch: true, Push: []string{"main"}}}, Recorder: rec})
	g.repos[testRepo].server = f
	return g, rec
}

// post sends a request head and a body, and returns what comes back.
func post(t *testing.T, g *Gate, uri, head string, body io.Reader) *http.Response {
	t.Helper()
	client, server := net.Pipe()
	served := make(chan struct{})
	go func() { defer close(served); g.Serve(server) }()
	t.Cleanup(func() { _ = client.Close(); <-served })
	go func() {
		_, _ = io.WriteString(client, "POST "+uri+" HTTP/1.1\r\nHost: 127.0.0.1:3130\r\nConnection: close\r\n"+head+"\r\n")
		_, _ = io.Copy(client, body)
	}()
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	return resp
}

// whole is post of a body of known length; it returns status and answer.
func whole(t *testing.T, g *Gate, uri, head, body string) (int, string) {
	t.Helper()
	resp := post(t, g, uri, head+"Content-Length: "+itoa(len(body))+"\r\n", strings.NewReader(body))
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s: %v", uri, err)
	}
	return resp.StatusCode, string(b)
}

func packets(lines ...string) string {
	var b []byte
	for _, l := range lines {
		if l == "|" {
			b = append(b, "0001"...)
			continue
		}
		b = pktline.AppendString(b, l)
	}
	return string(pktline.AppendFlush(b))
}
