package gitlogin

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"aibox/test/githost"
)

const testHost = "git.example.test"

// newKey makes a key pair in dir and returns its file.
func newKey(t *testing.T, file, passphrase string) ed25519.PrivateKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(private, "")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(pem.EncodeToMemory(block)))
	write(t, file+".pub", authorized(t, public))
	return private
}

// authorized is a public key's line.
func authorized(t *testing.T, key ed25519.PublicKey) string {
	t.Helper()
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(public))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sshd is OpenSSH's server on loopback, for the user who runs the tests.
type sshd struct {
	*githost.SSHD
	hostKey string // public, as in known_hosts
}

// startSSHD serves the repositories below dir/srv. The extra lines go into its
// configuration.
func startSSHD(t *testing.T, dir string, extra ...string) *sshd {
	t.Helper()
	if _, _, err := githost.FindSSHD(); err != nil {
		t.Skip(err)
	}
	own := t.TempDir()
	host := filepath.Join(own, "host")
	newKey(t, host, "")
	public, err := os.ReadFile(host + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	server, err := githost.StartSSHD(githost.Door{
		Root: filepath.Join(dir, "srv"), HostKey: host, Authorized: filepath.Join(dir, "authorized"), Config: filepath.Join(own, "config"), Lines: extra,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &sshd{server, strings.TrimSpace(string(public))}
}

// configure writes a configuration of ssh and a program "ssh" that uses it,
// since ssh itself finds its files by the user database, not by HOME.
func configure(t *testing.T, home string, lines ...string) (program string) {
	t.Helper()
	path, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("found no ssh, wanted OpenSSH's client")
	}
	config := filepath.Join(home, "ssh_config")
	write(t, config, "UserKnownHostsFile "+filepath.Join(home, "known_hosts")+"\nGlobalKnownHostsFile none\n"+strings.Join(lines, "\n")+"\n")
	program = filepath.Join(home, "ssh")
	write(t, program, fmt.Sprintf("#!/bin/sh\nexec %s -F '%s' \"$@\"\n", path, config))
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

func userName(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}
