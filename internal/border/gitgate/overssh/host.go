package overssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"aibox/internal/border/gitgate/upstream"

	"golang.org/x/crypto/ssh"
)

// Login is how the host logs in at one SSH server. The values are all that is
// needed: nothing is read from files later.
type Login struct {
	User    string
	Address string // host:port to connect to
	Name    string // host:port by which the host key is known
	HostKey ssh.HostKeyCallback
	// Algorithms are those of the known host keys, so that the server proves
	// itself by one of these.
	Algorithms []string
	// Signers gives the keys to try, at each login.
	Signers func() ([]ssh.Signer, error)
}

// Host is one server: a connection that its repositories share, made when it
// is needed and again when it broke.
type Host struct {
	login Login
	dial  upstream.DialFunc

	slots  chan struct{} // one for each session
	lock   chan struct{} // holds what follows; a channel, so that waiting can end
	client *ssh.Client
	late   <-chan loggedIn // a login that was given up; nil for none
}

// loggedIn is how a login ended.
type loggedIn struct {
	client *ssh.Client
	err    error
}

// NewHost returns a server. Nothing is connected yet.
func NewHost(dial upstream.DialFunc, login Login) *Host {
	return &Host{login: login, dial: dial, slots: make(chan struct{}, MaxSessions), lock: make(chan struct{}, 1)}
}

// Close ends the connection and its sessions.
func (h *Host) Close() {
	h.lock <- struct{}{}
	defer func() { <-h.lock }()
	if h.client != nil {
		_ = h.client.Close()
		h.client = nil
	}
}

// connect returns the connection, and whether it was there before.
func (h *Host) connect(ctx context.Context) (client *ssh.Client, reused bool, err error) {
	select {
	case h.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	defer func() { <-h.lock }()
	if h.client != nil {
		return h.client, true, nil
	}
	client, err = h.logIn(ctx)
	if err != nil {
		return nil, false, err
	}
	h.client = client
	go func() {
		_ = client.Wait()
		h.drop(client)
	}()
	return client, false, nil
}

// drop forgets a connection that is no longer good.
func (h *Host) drop(client *ssh.Client) {
	_ = client.Close()
	h.lock <- struct{}{}
	defer func() { <-h.lock }()
	if h.client == client {
		h.client = nil
	}
}

func (h *Host) logIn(ctx context.Context) (*ssh.Client, error) {
	if err := h.settle(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	conn, err := h.dial(ctx, "tcp", h.login.Address)
	if err != nil {
		return nil, upstream.Failed("cannot reach the SSH server", err)
	}
	done := make(chan loggedIn, 1)
	go func() { // an agent that waits for its user knows no deadline
		c, chans, reqs, err := ssh.NewClientConn(conn, h.login.Name, h.config())
		if err != nil {
			done <- loggedIn{nil, err}
			return
		}
		done <- loggedIn{ssh.NewClient(c, chans, reqs), nil}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			_ = conn.Close()
			return nil, loginError(r.err)
		}
		return r.client, nil
	case <-ctx.Done():
		_ = conn.Close()
		h.late = done
		return nil, upstream.Failed("SSH login", ctx.Err())
	}
}

// settle waits a moment for the end of a login that was given up. One that still
// waits for the agent would have company of each that a VM asks for, and the agent's
// user a question of each.
func (h *Host) settle() error {
	if h.late == nil {
		return nil
	}
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case l := <-h.late:
		if l.client != nil {
			_ = l.client.Close()
		}
		h.late = nil
		return nil
	case <-timer.C:
		return errors.New("the last SSH login still waits for the host's agent")
	}
}

func (h *Host) config() *ssh.ClientConfig {
	return &ssh.ClientConfig{
		User:              h.login.User,
		Auth:              []ssh.AuthMethod{ssh.PublicKeysCallback(h.login.Signers)},
		HostKeyCallback:   h.checkHostKey,
		HostKeyAlgorithms: h.login.Algorithms,
		ClientVersion:     "SSH-2.0-aibox",
	}
}

// hostKeyError tells a refused host key from other failures of a login.
type hostKeyError struct{ error }

func (e hostKeyError) Unwrap() error { return e.error }

func (h *Host) checkHostKey(name string, remote net.Addr, key ssh.PublicKey) error {
	if err := h.login.HostKey(name, remote, key); err != nil {
		return hostKeyError{fmt.Errorf("its host key %s is not the one that the host's known_hosts names: %w", ssh.FingerprintSHA256(key), err)}
	}
	return nil
}

func loginError(err error) error {
	var bad hostKeyError
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, &bad):
		return upstream.Failed("the SSH server is not trusted", bad)
	case errors.As(err, &negotiation):
		// A server whose key changed its type has none of the known ones.
		return upstream.Failed("the SSH server has no host key of a known type, or no common algorithm", negotiation)
	case strings.Contains(err.Error(), "unable to authenticate"): // an error without a type
		return errors.New("the SSH server refuses the host's keys")
	case errors.Is(err, io.EOF):
		return upstream.Failed("SSH login", err)
	}
	return upstream.Failed("SSH login failed", err)
}

// acquire takes one of the connection's sessions.
func (h *Host) acquire(ctx context.Context) error {
	timer := time.NewTimer(waitTime)
	defer timer.Stop()
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-timer.C:
		return fmt.Errorf("%d sessions with the SSH server are in use", MaxSessions)
	case <-ctx.Done():
		return upstream.Failed("wait for the SSH server", ctx.Err())
	}
}
