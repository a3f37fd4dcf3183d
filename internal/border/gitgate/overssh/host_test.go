package overssh

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"aibox/test/conns"
)

// serveLogins is a server that does the handshake and knows no key.
func serveLogins(t *testing.T) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	signer := conns.HostKey(t)
	config := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
		return nil, errors.New("unknown")
	}}
	config.AddHostKey(signer)
	return func(context.Context, string, string) (net.Conn, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		server, err := l.Accept()
		if err != nil {
			return nil, err
		}
		go func() {
			_, _, _, _ = ssh.NewServerConn(server, config)
			_ = server.Close()
		}()
		return client, nil
	}
}

// TestLoginsDoNotPileUp has an agent that waits for its user, whom a VM that asks
// again and again must not flood with questions.
func TestLoginsDoNotPileUp(t *testing.T) {
	var asked atomic.Int32
	began, answer := make(chan struct{}, 8), make(chan struct{})
	h := NewHost(serveLogins(t), Login{
		User: "git", Address: "git.example.test:22", Name: "git.example.test:22", HostKey: ssh.InsecureIgnoreHostKey(),
		Signers: func() ([]ssh.Signer, error) {
			asked.Add(1)
			began <- struct{}{}
			<-answer
			return nil, errors.New("the user said no")
		},
	})
	first, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, _, err := h.connect(first); err == nil {
		t.Fatal("a login without a key")
	}
	if _, _, err := h.connect(t.Context()); err == nil || !strings.Contains(err.Error(), "still waits for the host's agent") {
		t.Errorf("beside a login that waits: %v", err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the agent was asked %d times", n)
	}
	close(answer) // later logins are tried again
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for asked.Load() != 2 && ctx.Err() == nil { // the first login may still be ending
		if _, _, err := h.connect(ctx); err == nil {
			t.Fatal("a login without a key")
		}
	}
	if asked.Load() != 2 {
		t.Errorf("after the answer the agent was asked %d times", asked.Load())
	}
}
