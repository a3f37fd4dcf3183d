package gitlogin

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aibox/internal/border/gitgate"
	"aibox/test/conns"
	"aibox/test/githost"

	"golang.org/x/crypto/ssh/agent"
)

// world is a repository behind sshd, the login that Ask finds for it, a gate,
// and a git that stands for the VM's.
type world struct {
	t    *testing.T
	dir  string
	home string // of the host's user
	sshd *sshd
	env  []string // of the host, for Ask

	logins *Logins
	gate   *gitgate.Gate
	port   string
	dialed func(net.Conn)
}

func newWorld(t *testing.T, sshdLines ...string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home")}
	w.sshd = startSSHD(t, dir, sshdLines...)
	key := newKey(t, filepath.Join(w.home, "key"), "")
	write(t, filepath.Join(dir, "authorized"), authorized(t, key.Public().(ed25519Public)))
	w.known(testHost + " " + w.sshd.hostKey)
	seed := filepath.Join(dir, "seed")
	w.git(dir, "init", "-q", "-b", "main", seed)
	w.git(seed, "commit", "-q", "--allow-empty", "-m", "one")
	w.git(dir, "clone", "-q", "--bare", seed, filepath.Join(dir, "srv", "me", "app.git"))
	return w
}

// known writes the host's known_hosts; %p is the server's port.
func (w *world) known(lines ...string) {
	text := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", testHost+" ", "["+testHost+"]:"+w.sshd.Port+",[127.0.0.1]:"+w.sshd.Port+" ")
	write(w.t, filepath.Join(w.home, "known_hosts"), text)
}

// ask asks with a configuration of ssh beside host name and port.
func (w *world) ask(lines ...string) *Logins {
	w.t.Helper()
	program := configure(w.t, w.home, append([]string{"Host " + testHost, "HostName 127.0.0.1", "Port " + w.sshd.Port}, lines...)...)
	logins, err := Ask(w.t.Context(), Host{Home: w.home, Env: append([]string{"PATH=" + os.Getenv("PATH")}, w.env...), SSH: program},
		[]Remote{{Remote: testHost + "/me/app", Fetch: true, Push: []string{"main"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(logins.Close)
	w.logins = logins
	return logins
}

func (w *world) key() string { return "IdentityFile " + filepath.Join(w.home, "key") }

// serve starts a gate with the logins.
func (w *world) serve() {
	w.t.Helper()
	if login := w.logins.Repos[0].Login; login.SSH == nil {
		w.t.Fatalf("no SSH login: %+v", login.Why)
	} else if login.SSH.User != "git" {
		w.t.Errorf("SSH as %s", login.SSH.User)
	}
	w.logins.Repos[0].Login.SSH.User = userName(w.t) // this sshd knows no git
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil && w.dialed != nil {
			w.dialed(c)
		}
		return c, err
	}
	w.gate = gitgate.New(gitgate.Config{Repos: w.logins.Repos, Dial: dial})
	w.t.Cleanup(w.gate.Close)
	_, w.port, _ = net.SplitHostPort(conns.Serve(w.t, w.gate.Serve))
}

// run runs git: the VM's once the gate is there.
func (w *world) run(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + filepath.Join(w.dir, "vm"), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	if w.port != "" {
		cmd.Env = append(cmd.Env, githost.ByBroker(w.port, testHost+"/me/app")...)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.run(dir, args...)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func (w *world) fails(want string, args ...string) {
	w.t.Helper()
	if out, err := w.run(w.dir, args...); err == nil || !strings.Contains(out, want) {
		w.t.Errorf("git %s: %v, want %q:\n%s", strings.Join(args, " "), err, want, out)
	}
}

// round clones, commits and pushes.
func (w *world) round() {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	w.git(w.dir, "clone", "-q", "git@"+testHost+":me/app.git", dir)
	w.git(dir, "commit", "-q", "--allow-empty", "-m", "more")
	w.git(dir, "push", "-q", "origin", "main")
	if got, want := w.git(filepath.Join(w.dir, "srv", "me", "app.git"), "rev-parse", "main"), w.git(dir, "rev-parse", "HEAD"); got != want {
		w.t.Errorf("the server has %s, want %s", got, want)
	}
	if out, err := w.run(dir, "push", "origin", "HEAD:off"); err == nil || !strings.Contains(out, "[remote rejected]") {
		w.t.Errorf("a push off the list: %v\n%s", err, out)
	}
}

func TestGitSSHKeyFile(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL")
	l := w.ask(w.key())
	if got, want := fmt.Sprint(l.Ports()), "["+w.sshd.Port+"]"; got != want || len(l.Missing()) > 0 {
		t.Errorf("ports %s, want %s; missing %q", got, want, l.Missing())
	}
	w.serve()
	// What follows needs no file of the host any more.
	for _, name := range []string{"key", "known_hosts", "ssh_config"} {
		if err := os.Remove(filepath.Join(w.home, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.round()
	shallow := filepath.Join(t.TempDir(), "shallow")
	w.git(w.dir, "clone", "-q", "--depth", "1", "ssh://git@"+testHost+"/me/app", shallow)
	if n := w.git(shallow, "rev-list", "--count", "HEAD"); n != "1" {
		t.Errorf("a shallow clone has %s commits", n)
	}
	w.git(shallow, "fetch", "-q", "--unshallow")
	if n := strings.Count(w.sshd.Log(), "Accepted publickey"); n != 1 {
		t.Errorf("%d logins for all of this, want 1", n)
	}
}

// TestGitSSHNoVariables is for a server that takes no variables from clients.
func TestGitSSHNoVariables(t *testing.T) {
	w := newWorld(t)
	w.ask(w.key())
	w.serve()
	w.round()
}

func TestGitSSHAgent(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL")
	keyring := agent.NewKeyring()
	private := newKey(t, filepath.Join(w.home, "locked"), "passphrase")
	if err := keyring.Add(agent.AddedKey{PrivateKey: newKey(t, filepath.Join(w.home, "other"), "")}); err != nil {
		t.Fatal(err)
	}
	if err := keyring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.dir, "authorized"), authorized(t, private.Public().(ed25519Public)))
	socket := filepath.Join(w.dir, "agent")
	l := serveAgent(t, keyring, socket)

	// The environment's agent, the configuration's, and only the named key.
	w.env = []string{"SSH_AUTH_SOCK=" + socket}
	w.ask("IdentityFile none")
	w.env = nil
	if l := w.ask("IdentityFile none"); l.Repos[0].Login.SSH != nil || !strings.Contains(l.Missing()[0], "ssh has no key for "+testHost) {
		t.Errorf("without an agent: %q", l.Missing())
	}
	locked := filepath.Join(w.home, "locked")
	if l := w.ask("IdentityFile " + locked); !strings.Contains(l.Missing()[0], locked+" has a passphrase; run on the host: ssh-add "+locked) {
		t.Errorf("a locked key: %q", l.Missing())
	}
	w.ask("IdentityAgent "+socket, "IdentitiesOnly yes", "IdentityFile "+locked)
	signers, err := w.logins.Repos[0].Login.SSH.Signers()
	if err != nil || len(signers) != 1 || !strings.Contains(authorized(t, private.Public().(ed25519Public)), keyText(signers[0])) {
		t.Errorf("%d keys with IdentitiesOnly, %v", len(signers), err)
	}
	_ = l.Close() // nobody connects later
	w.serve()
	w.round()
}

// TestGitSSHAlias is for a host key that is known by another name.
func TestGitSSHAlias(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL")
	write(t, filepath.Join(w.home, "known_hosts"), "# comment\nnonsense\n|1|x|y z\nthe-alias "+w.sshd.hostKey+"\n")
	w.ask(w.key(), "HostKeyAlias the-alias")
	w.serve()
	w.round()
}

func TestGitSSHHostKeys(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL")
	write(t, filepath.Join(w.home, "known_hosts"), "elsewhere.test "+w.sshd.hostKey+"\n")
	if l := w.ask(w.key()); l.Repos[0].Login.SSH != nil || !strings.Contains(l.Missing()[0], "ssh does not know the host key of "+testHost) {
		t.Errorf("an unknown host: %q", l.Missing())
	}
	_ = os.Remove(filepath.Join(w.home, "known_hosts"))
	if l := w.ask(w.key()); l.Repos[0].Login.SSH != nil {
		t.Error("no known_hosts at all is no obstacle")
	}
	// Known, and another one answers.
	other, err := ed25519PublicLine(t)
	if err != nil {
		t.Fatal(err)
	}
	w.known(testHost + " " + other)
	w.ask(w.key())
	w.serve()
	w.fails("is not the one that the host's known_hosts names", "ls-remote", "git@"+testHost+":me/app")
	if strings.Contains(w.sshd.Log(), "Accepted publickey") {
		t.Error("a login at a server that is not trusted")
	}
}

func TestGitSSHRevoked(t *testing.T) {
	w := newWorld(t)
	w.known(testHost+" "+w.sshd.hostKey, "@revoked * "+w.sshd.hostKey)
	if l := w.ask(w.key()); l.Repos[0].Login.SSH != nil {
		w.serve()
		w.fails("not trusted", "ls-remote", "git@"+testHost+":me/app")
	}
}

func TestGitSSHThroughOthers(t *testing.T) {
	w := newWorld(t)
	for setting, name := range map[string]string{"ProxyJump other.test": "ProxyJump", "ProxyCommand nc %h %p": "ProxyCommand"} {
		if l := w.ask(w.key(), setting); l.Repos[0].Login.SSH != nil || !strings.Contains(l.Missing()[0], "("+name+")") {
			t.Errorf("%s: %q", setting, l.Missing())
		}
	}
	if l := w.ask(w.key(), "ProxyJump none"); l.Repos[0].Login.SSH == nil {
		t.Errorf("ProxyJump none: %q", l.Missing())
	}
}

// TestGitSSHReconnects breaks the connection between two fetches.
func TestGitSSHReconnects(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL")
	var mu sync.Mutex
	var conns []net.Conn
	w.dialed = func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, c)
	}
	w.ask(w.key())
	w.serve()
	for range 3 {
		w.git(w.dir, "ls-remote", "git@"+testHost+":me/app")
		mu.Lock()
		_ = conns[len(conns)-1].Close()
		mu.Unlock()
	}
	if len(conns) != 3 {
		t.Errorf("%d connections, want 3", len(conns))
	}
}

// TestGitSSHSessions runs more fetches at once than one connection carries, at
// a server that takes no more.
func TestGitSSHSessions(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL", "MaxSessions 4")
	w.ask(w.key())
	w.serve()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if out, err := w.run(w.dir, "ls-remote", "git@"+testHost+":me/app"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
}

func TestGitSSHServerFails(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL")
	w.ask(w.key())
	w.serve()
	if err := os.Rename(filepath.Join(w.dir, "srv", "me"), filepath.Join(w.dir, "srv", "you")); err != nil {
		t.Fatal(err)
	}
	w.fails("the SSH server says: ", "ls-remote", "git@"+testHost+":me/app")
	write(t, filepath.Join(w.dir, "authorized"), "")
	w.gate.Close()
	w.fails("the SSH server refuses the host's keys", "ls-remote", "git@"+testHost+":me/app")
}
