//go:build vm

package vm

import (
	"crypto/ed25519"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"aibox/test/githost"
)

// sshConfig lists what the test of SSH uses.
const sshConfig = `git:
  - {remote: git.example.test/me/app, fetch: true, push: [main, "claude/*"]}
  - {remote: agent.example.test/me/app, fetch: true, push: [main]}
  - {remote: work.example.test/me/app, fetch: true, push: [main]}
  - {remote: changed.example.test/me/app, fetch: true, push: [main]}
  - {remote: unknown.example.test/me/app, fetch: true}
  - {remote: jump.example.test/me/app, fetch: true}
`

// sshUser is the host user's ~/.ssh; %p is the server's port. The first host has a key in a
// file, the second one that only an agent has, the third is a name of ssh's own
// for the first.
const sshUser = `Host git.example.test changed.example.test
  IdentitiesOnly yes
Host agent.example.test
  IdentityFile none
Host work.example.test
  HostName git.example.test
  HostKeyAlias the-alias
Host jump.example.test
  ProxyJump git.example.test
Host *
  Port %p
`

type sshWorld struct {
	*gitWorld
	sshd         *githost.SSHD
	secrets      []string // of both private keys
	held, inFile string   // fingerprints of the agent's key and the file's
}

func newSSHWorld(t *testing.T) *sshWorld {
	t.Helper()
	w := &sshWorld{gitWorld: newGitWorld(t)}
	dir := t.TempDir()
	w.inFile = w.newKey(filepath.Join(w.home, ".ssh", "id_ed25519"))
	w.held = w.newKey(filepath.Join(dir, "held"))
	w.newKey(filepath.Join(dir, "host"))
	w.newKey(filepath.Join(dir, "another"))
	w.startAgent(filepath.Join(dir, "held"))
	authorized := readText(t, filepath.Join(dir, "held.pub")) + readText(t, filepath.Join(w.home, ".ssh", "id_ed25519.pub"))
	if err := os.WriteFile(filepath.Join(dir, "authorized"), []byte(authorized), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	w.sshd, err = githost.StartSSHD(githost.Door{
		Root: w.root, HostKey: filepath.Join(dir, "host"), Authorized: filepath.Join(dir, "authorized"),
		Config: filepath.Join(dir, "sshd_config"), Lines: []string{"AcceptEnv GIT_PROTOCOL"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.sshd.Close)
	right, wrong := readText(t, filepath.Join(dir, "host.pub")), readText(t, filepath.Join(dir, "another.pub"))
	w.writeHome(".gitconfig", "[user]\n\tname = Alice\n\temail = alice@example.test\n")
	w.writeHome(".ssh/config", strings.ReplaceAll(sshUser, "%p", w.sshd.Port))
	w.writeHome(".ssh/known_hosts", "the-alias "+right+
		"[git.example.test]:"+w.sshd.Port+",[agent.example.test]:"+w.sshd.Port+" "+right+"[changed.example.test]:"+w.sshd.Port+" "+wrong)
	w.config(sshConfig)
	return w
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// newKey makes a key pair, remembers what is secret of it, and returns its
// fingerprint.
func (w *sshWorld) newKey(file string) string {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if out, err := exec.CommandContext(w.t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput(); err != nil {
		w.t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	text := readText(w.t, file)
	key, err := ssh.ParseRawPrivateKey([]byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	private := *key.(*ed25519.PrivateKey)
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		w.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	w.secrets = append(w.secrets, string(private.Seed()), lines[len(lines)-3]) // in memory, and in the file
	return ssh.FingerprintSHA256(public)
}

// startAgent gives the key to an agent of OpenSSH's, which alone has it then.
func (w *sshWorld) startAgent(key string) {
	w.t.Helper()
	dir, err := os.MkdirTemp("", "agent-") // short, as a socket's path must be
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
	agent := exec.CommandContext(w.t.Context(), "ssh-agent", "-D", "-a", socket)
	agent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := agent.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
	})
	if _, err := out.Read(make([]byte, 4096)); err != nil { // it says where it listens
		w.t.Fatalf("ssh-agent: %v", err)
	}
	add := exec.CommandContext(w.t.Context(), "ssh-add", "-q", key)
	add.Env = []string{"SSH_AUTH_SOCK=" + socket, "HOME=" + w.home}
	if out, err := add.CombinedOutput(); err != nil {
		w.t.Fatalf("ssh-add: %v\n%s", err, out)
	}
	if err := os.Remove(key); err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, "SSH_AUTH_SOCK="+socket)
	w.secrets = append(w.secrets, socket)
}

func TestGitSSH(t *testing.T) {
	if !inNetwork(t, gitHost, "agent.example.test", "changed.example.test", "unknown.example.test", "jump.example.test") {
		return
	}
	w := newSSHWorld(t)
	s := w.shell()
	s.must("true")
	// Nothing of what follows needs the file any more: all was read before the VM ran.
	if err := os.Remove(filepath.Join(w.home, ".ssh", "id_ed25519")); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(s.must(`git clone -q git@git.example.test:me/app ~/app && cd ~/app && git commit -q --allow-empty -m more && git push -q origin main HEAD:claude/fix && git rev-parse HEAD`))
	if w.server("me/app.git", "main") != id || w.server("me/app.git", "claude/fix") != id {
		t.Error("the push did not arrive")
	}
	if got := s.must("git clone -q --depth 1 ssh://git@work.example.test/me/app ~/shallow && cd ~/shallow && git rev-list --count HEAD && git fetch -q --unshallow && git rev-list --count HEAD"); got != "1\n4\n" {
		t.Errorf("a shallow clone has %q commits", got)
	}
	if got := s.must("git clone -q --filter=blob:none --no-checkout git@agent.example.test:me/app.git ~/partial && cd ~/partial && git rev-list --objects --missing=print HEAD | grep -c '^?' && git checkout -q main && tail -n 1 file2"); got != "3\nline 2\n" {
		t.Errorf("a partial clone prints %q", got)
	}
	id = strings.TrimSpace(s.must("cd ~/partial && git commit -q --allow-empty -m agent && git push -q origin main && git rev-parse HEAD"))
	if got := w.server("me/app.git", "main"); got != id {
		t.Errorf("main is %s, want the agent's push of %s", got, id)
	}
	for name, key := range map[string]string{"the file's key": w.inFile, "the agent's key": w.held} {
		if !strings.Contains(w.sshd.Log(), key) {
			t.Errorf("nobody came in with %s:\n%s", name, w.sshd.Log())
		}
	}

	before, logins := w.refs(), strings.Count(w.sshd.Log(), "Accepted publickey")
	s.refuses("cd ~/app && git push origin HEAD:off", "! [remote rejected]", "branch not listed")
	s.refuses("cd ~/app && git push origin HEAD:claude/two HEAD:off", "another ref of this push is refused")
	s.refuses("cd ~/app && git push origin :main", "no branch is deleted")
	s.refuses("git ls-remote git@changed.example.test:me/app", "is not the one that the host's known_hosts names")
	s.refuses("git ls-remote git@unknown.example.test:me/app", "ssh does not know the host key of unknown.example.test")
	s.refuses("git ls-remote git@jump.example.test:me/app", "(ProxyJump)")
	if after := w.refs(); after != before {
		t.Errorf("refs moved from\n%s\nto\n%s", before, after)
	}
	if n := strings.Count(w.sshd.Log(), "Accepted publickey"); n != logins {
		t.Errorf("%d logins for what is refused", n-logins)
	}

	w.searchVM(s, w.secrets...)
	s.wait()
	w.logged("git push git.example.test/me/app refs/heads/claude/fix", "git fetch agent.example.test/me/app")
	for _, want := range []string{"no login for unknown.example.test/me/app: ", "no login for jump.example.test/me/app: ", "(ProxyJump)"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("the user reads no %q in\n%s", want, s.stderr)
		}
	}
	noneLeft(t)
}
