//go:build vm

package vm

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/test/githost"
	"aibox/test/ownnet"
)

// gitHost is the server that the tests' repositories are on.
const gitHost = "git.example.test"

// inNetwork runs the calling test once more, in a network of its own where the
// names lead to loopback, and fails it if that fails. It returns true there:
//
//	if !inNetwork(t, names...) { return }
func inNetwork(t *testing.T, names ...string) bool {
	t.Helper()
	if ownnet.Inside() {
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd, err := ownnet.Command(ctx, ownnet.Place{Names: names, Home: home, Alias: "git"}, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=9m")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "AIBOX_TEST_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a network of its own: %v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// gitWorld is a user with a login at git servers, and the servers' disk.
type gitWorld struct {
	*box
	root     string // of the repositories on the server
	password string // what must never be in the VM
	site     *githost.HTTPS
}

// newGitWorld makes the repositories me/app and me/readonly, each with three
// commits and two branches.
func newGitWorld(t *testing.T) *gitWorld {
	t.Helper()
	b := newBox(t)
	b.home = os.Getenv("AIBOX_TEST_HOME")
	b.project = filepath.Join(b.home, "src", "my-project")
	if err := os.MkdirAll(b.project, 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "HOME="+b.home, "SSL_CERT_FILE="+filepath.Join(b.home, "ca.pem"))
	w := &gitWorld{box: b, root: filepath.Join(t.TempDir(), "srv"), password: "canary-" + rand.Text()}
	seed := filepath.Join(b.home, "seed")
	w.git(b.home, "init", "-q", "-b", "main", seed)
	for i := range 3 {
		b.writeHome(fmt.Sprint("seed/file", i), strings.Repeat(fmt.Sprint("line ", i, "\n"), 50))
		w.git(seed, "add", ".")
		w.git(seed, "commit", "-q", "-m", fmt.Sprint("commit ", i))
	}
	w.git(seed, "branch", "other")
	for _, name := range []string{"me/app.git", "me/readonly.git", "you/app.git"} {
		w.git(b.home, "clone", "-q", "--bare", seed, w.bare(name))
		for _, s := range []string{"http.receivepack=true", "uploadpack.allowFilter=true", "receive.advertisePushOptions=true", "receive.certNonceSeed=x"} {
			key, value, _ := strings.Cut(s, "=")
			w.git(w.bare(name), "config", key, value)
		}
	}
	return w
}

func (w *gitWorld) bare(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// git runs the host's git to its success.
func (w *gitWorld) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// server is an object id at the server, "" if there is none.
func (w *gitWorld) server(name, ref string) string {
	cmd := exec.CommandContext(w.t.Context(), "git", "rev-parse", "-q", "--verify", ref)
	cmd.Dir = w.bare(name)
	out, _ := cmd.Output() // it fails where there is none
	return strings.TrimSpace(string(out))
}

// refs are all of the server's.
func (w *gitWorld) refs() string {
	w.t.Helper()
	return w.git(w.bare("me/app.git"), "for-each-ref") + w.git(w.bare("me/readonly.git"), "for-each-ref") + w.git(w.bare("you/app.git"), "for-each-ref")
}

// serveHTTPS serves the repositories to alice with the password on port 443, and
// gives the host's git the login for each of the names.
func (w *gitWorld) serveHTTPS(before func(http.ResponseWriter, *http.Request) bool, logins map[string]string) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	var store strings.Builder
	for name, password := range logins {
		names = append(names, name)
		if password != "" {
			fmt.Fprintf(&store, "https://alice:%s@%s\n", password, name)
		}
	}
	if w.site, err = githost.ServeHTTPS(l, githost.Site{Root: w.root, Names: names, User: "alice", Password: w.password, Before: before}); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.site.Close)
	w.writeHome("ca.pem", string(w.site.CA))
	w.writeHome(".git-credentials", store.String())
	w.writeHome(".gitconfig", "[credential]\n\thelper = store\n[user]\n\tname = Alice\n\temail = alice@example.test\n")
	if err := os.Chmod(filepath.Join(w.home, ".git-credentials"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// refuses runs what must fail in the VM and say each of the texts.
func (s *shell) refuses(command string, texts ...string) {
	s.t.Helper()
	out, code := s.do(command)
	if code == 0 {
		s.t.Errorf("%s: works\n%s", command, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			s.t.Errorf("%s: does not say %q:\n%s", command, text, out)
		}
	}
}

// logged wants lines in proxy.log.
func (w *gitWorld) logged(texts ...string) {
	w.t.Helper()
	log, err := os.ReadFile(filepath.Join(w.state(), "proxy.log"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(log), text) {
			w.t.Errorf("proxy.log has no %q:\n%s", text, log)
		}
	}
	if strings.Contains(string(log), w.password) {
		w.t.Error("the password is in proxy.log")
	}
}
