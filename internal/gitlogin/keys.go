package gitlogin

import (
	"errors"
	"io"
	"os"

	"golang.org/x/crypto/ssh"
)

// keys are what the configuration's key files hold, in its order.
type keys struct {
	signers []ssh.Signer
	// named are the public keys of all files, of which the agent may have the
	// private ones.
	named []ssh.PublicKey
}

func (k keys) empty() bool { return len(k.signers) == 0 }

// readKeys reads the key files that are there. The problem is the last file's
// whose key cannot be used.
func (c sshConfig) readKeys() (k keys, problem string) {
	for _, path := range c.identities[:min(len(c.identities), maxKeyFiles)] {
		if public, _, _, _, err := ssh.ParseAuthorizedKey(readFile(path + ".pub")); err == nil {
			k.named = append(k.named, public)
		}
		text := readFile(path)
		if text == nil {
			continue
		}
		signer, err := ssh.ParsePrivateKey(text)
		var locked *ssh.PassphraseMissingError
		switch {
		case err == nil:
			k.signers = append(k.signers, signer)
			k.named = append(k.named, signer.PublicKey())
		case errors.As(err, &locked):
			if locked.PublicKey != nil {
				k.named = append(k.named, locked.PublicKey)
			}
			problem = path + " has a passphrase; run on the host: ssh-add " + path
		default:
			problem = path + " is of a kind that only ssh itself can use; run on the host: ssh-add " + path
		}
	}
	return k, problem
}

// readFile returns a plain file's text, nil if it is not there or too long.
func readFile(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil
	}
	return text
}

// order is the keys as ssh tries them: those of the configuration that the
// agent has, the agent's others, then the files'. Servers take few tries.
func order(k keys, a *agentConn, only bool) ([]ssh.Signer, error) {
	held, err := a.signers()
	if err != nil && k.empty() {
		return nil, err
	}
	var first, others []ssh.Signer
	seen := map[string]bool{}
	for _, s := range held {
		if named(k.named, s.PublicKey()) {
			first = append(first, s)
			seen[string(s.PublicKey().Marshal())] = true
		} else if !only {
			others = append(others, s)
		}
	}
	list := append(first, others...)
	for _, s := range k.signers {
		if !seen[string(s.PublicKey().Marshal())] {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no key for this server")
	}
	return list, nil
}

func named(keys []ssh.PublicKey, key ssh.PublicKey) bool {
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	for _, k := range keys {
		if string(k.Marshal()) == string(key.Marshal()) {
			return true
		}
	}
	return false
}
