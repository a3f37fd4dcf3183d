package terminal

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Keys are the SSH keys of one boot. They exist in memory alone.
type Keys struct {
	// HostPEM is the server's private key, for wire.Boot.SSHHostKey.
	HostPEM string
	// AuthorizedKey is the client's public key, for wire.Boot.SSHClientKey.
	AuthorizedKey string

	host   ssh.PublicKey
	client ssh.Signer
}

// NewKeys makes new ed25519 keys.
func NewKeys() (*Keys, error) {
	hostPub, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the VM's SSH host key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(hostKey, "")
	if err != nil {
		return nil, fmt.Errorf("encode the VM's SSH host key: %w", err)
	}
	host, err := ssh.NewPublicKey(hostPub)
	if err != nil {
		return nil, fmt.Errorf("encode the VM's SSH host key: %w", err)
	}
	_, clientKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the SSH client key: %w", err)
	}
	client, err := ssh.NewSignerFromKey(clientKey)
	if err != nil {
		return nil, fmt.Errorf("use the SSH client key: %w", err)
	}
	return &Keys{
		HostPEM:       string(pem.EncodeToMemory(block)),
		AuthorizedKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(client.PublicKey()))),
		host:          host,
		client:        client,
	}, nil
}
