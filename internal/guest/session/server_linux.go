package session

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
)

// Options is what a server needs.
type Options struct {
	// HostKey is the private key in OpenSSH's PEM form, ClientKey the one
	// accepted key in authorized_keys form.
	HostKey, ClientKey string
	// Environment returns a session's environment from what its client set.
	Environment func(client []string) []string
}

// Server serves SSH connections.
type Server struct {
	opts     Options
	config   *ssh.ServerConfig
	conns    chan struct{}
	launcher Launcher      // valid once open is closed
	open     chan struct{} // see Open
}

// New checks the keys and returns a server. Its clients can log in, and their
// sessions wait for Open.
func New(opts Options) (*Server, error) {
	host, err := ssh.ParsePrivateKey([]byte(opts.HostKey))
	if err != nil {
		return nil, fmt.Errorf("read host key: %w", err)
	}
	accepted, _, _, _, err := ssh.ParseAuthorizedKey([]byte(opts.ClientKey))
	if err != nil {
		return nil, fmt.Errorf("read client key: %w", err)
	}
	config := &ssh.ServerConfig{
		MaxAuthTries:  2,
		ServerVersion: "SSH-2.0-aibox",
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(key.Marshal(), accepted.Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		},
	}
	config.AddHostKey(host)
	return &Server{opts: opts, config: config, conns: make(chan struct{}, maxConns), open: make(chan struct{})}, nil
}

// Open lets sessions start their commands by the launcher. It is called once.
func (s *Server) Open(launcher Launcher) {
	s.launcher = launcher
	close(s.open)
}

// Serve serves one connection to its end. One connection too many is closed.
func (s *Server) Serve(conn net.Conn) {
	select {
	case s.conns <- struct{}{}:
		defer func() { <-s.conns }()
	default:
		conn.Close()
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	server, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	defer server.Close()
	_ = conn.SetDeadline(time.Time{})
	go ssh.DiscardRequests(requests)
	slots := make(chan struct{}, maxChannels)
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "only sessions are served")
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = c.Reject(ssh.ResourceShortage, "too many sessions")
			continue
		}
		go func() {
			defer func() { <-slots }()
			s.session(c)
		}()
	}
}

// session accepts a channel and serves its requests until it is closed.
func (s *Server) session(c ssh.NewChannel) {
	<-s.open
	ch, requests, err := c.Accept()
	if err != nil {
		return
	}
	defer ch.Close()
	channel := &channel{Channel: ch, opts: s.opts, launcher: s.launcher}
	for r := range requests {
		channel.handle(r)
	}
	channel.abandon()
}
