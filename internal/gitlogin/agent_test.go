package gitlogin

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

type ed25519Public = ed25519.PublicKey

func ed25519PublicLine(t *testing.T) (string, error) {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(authorized(t, public)), nil
}

func keyText(s ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

// serveAgent serves a keyring as an agent does.
func serveAgent(t *testing.T, keyring agent.Agent, socket string) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				_ = agent.ServeAgent(keyring, c)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close() })
	return l
}
