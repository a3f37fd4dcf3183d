package gitlogin

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
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
	dir, port string
	hostKey   string // public, as in known_hosts
	log       lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startSSHD serves the repositories below dir/srv. The extra lines go into its
// configuration.
func startSSHD(t *testing.T, dir string, extra ...string) *sshd {
	t.Helper()
	program, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Skip("found no /usr/sbin/sshd, wanted OpenSSH's server")
	}
	if os.Getuid() == 0 {
		if _, err := os.Stat("/run/sshd"); err != nil {
			t.Skip("found no /run/sshd, wanted it since the tests run as root")
		}
	}
	s := &sshd{dir: t.TempDir()}
	newKey(t, filepath.Join(s.dir, "host"), "")
	public, err := os.ReadFile(filepath.Join(s.dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.hostKey = strings.TrimSpace(string(public))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	lines := append([]string{
		"ListenAddress 127.0.0.1:" + s.port, "HostKey " + filepath.Join(s.dir, "host"), "AuthorizedKeysFile " + filepath.Join(dir, "authorized"),
		"PidFile none", "UsePAM no", "StrictModes no", "PermitRootLogin yes", "PasswordAuthentication no", "LogLevel VERBOSE",
		"ForceCommand cd '" + filepath.Join(dir, "srv") + "' && eval \"$SSH_ORIGINAL_COMMAND\"",
	}, extra...)
	write(t, filepath.Join(s.dir, "config"), strings.Join(lines, "\n")+"\n")
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-D", "-e", "-f", filepath.Join(s.dir, "config"))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	ready, copied := make(chan bool, 1), make(chan struct{})
	go func() {
		defer close(copied)
		s.copyLog(r, ready)
	}()
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		_ = r.Close()
		<-copied
	})
	if !<-ready {
		t.Fatalf("sshd did not start:\n%s", s.log.String())
	}
	return s
}

// copyLog reads the server's log, and says once that it listens or has ended.
func (s *sshd) copyLog(r *os.File, ready chan bool) {
	buf := make([]byte, 4096)
	for told := false; ; {
		n, err := r.Read(buf)
		_, _ = s.log.Write(buf[:n])
		if !told && (err != nil || strings.Contains(s.log.String(), "Server listening")) {
			told = true
			ready <- err == nil
		}
		if err != nil {
			return
		}
	}
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
