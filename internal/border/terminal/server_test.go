package terminal

import (
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"aibox/internal/wire"
	"aibox/test/conns"
)

const patience = 20 * time.Second

// served is one session on the test's server.
type served struct {
	conn     *ssh.ServerConn
	channel  ssh.Channel
	requests <-chan *ssh.Request
}

// begin grants requests up to shell or exec and returns them by type.
func (s served) begin(t *testing.T) map[string][]byte {
	t.Helper()
	got := make(map[string][]byte)
	for r := range s.requests {
		key := r.Type
		if r.Type == "env" {
			var e envRequest
			if err := ssh.Unmarshal(r.Payload, &e); err != nil {
				t.Error(err)
			}
			key = "env " + e.Name
			r.Payload = []byte(e.Value)
		}
		got[key] = r.Payload
		_ = r.Reply(true, nil)
		if r.Type == "shell" || r.Type == "exec" {
			return got
		}
	}
	t.Error("no command was started")
	return got
}

func (s served) exit(status uint32) {
	_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(exitStatus{status}))
	_ = s.channel.Close()
}

// serve starts an SSH server as init has it, and calls session for the first
// channel. It returns the client's end and keys.
func serve(t *testing.T, session func(served)) (net.Conn, *Keys) {
	t.Helper()
	checkLeaks(t)
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	client, server := conns.Unix(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runServer(t, server, keys, session)
	}()
	t.Cleanup(func() {
		_ = client.Close()
		<-ended
	})
	return client, keys
}

func runServer(t *testing.T, conn net.Conn, keys *Keys, session func(served)) {
	hostKey, err := ssh.ParsePrivateKey([]byte(keys.HostPEM))
	if err != nil {
		t.Error(err)
		return
	}
	allowed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(keys.AuthorizedKey))
	if err != nil {
		t.Error(err)
		return
	}
	cfg := &ssh.ServerConfig{
		PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if c.User() != wire.GuestUser || string(key.Marshal()) != string(allowed.Marshal()) {
				return nil, net.ErrClosed
			}
			return nil, nil
		},
		BannerCallback: func(ssh.ConnMetadata) string { return "\x1b[31mbanner" },
	}
	cfg.AddHostKey(hostKey)
	defer conn.Close()
	sc, channels, requests, err := ssh.NewServerConn(conn, cfg)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	c, ok := <-channels
	if !ok || c.ChannelType() != "session" {
		return
	}
	ch, reqs, err := c.Accept()
	if err != nil {
		return
	}
	session(served{sc, ch, reqs})
	_ = sc.Wait()
}

// checkLeaks fails the test if goroutines of a session outlive it.
func checkLeaks(t *testing.T) {
	t.Cleanup(func() {
		b := make([]byte, 1<<20)
		for end := time.Now().Add(patience); ; runtime.Gosched() {
			all := string(b[:runtime.Stack(b, true)])
			if !strings.Contains(all, "x/crypto/ssh") && !strings.Contains(all, "terminal.(*") {
				return
			}
			if time.Now().After(end) {
				t.Errorf("goroutines left:\n%s", all)
				return
			}
		}
	})
}
