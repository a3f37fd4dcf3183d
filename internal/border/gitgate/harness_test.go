package gitgate

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aibox/test/conns"
	"aibox/test/githost"
)

const (
	testHost = "git.example.test"
	testRepo = testHost + "/me/app"
	// canary is the password of the host's login. It must not reach the VM.
	canary = "canary-0f7e3a"
)

// world is a git server with HTTPS on loopback, a gate to it, and a git that
// stands for the one in the VM.
type world struct {
	t      testing.TB
	dir    string
	bare   string // the server's repository
	home   string // of the VM's git
	gate   *Gate
	port   string // of the gate
	record *record
	seen   *requests

	address string // of the HTTPS server
}

// requests are what the HTTPS server got.
type requests struct {
	mu   sync.Mutex
	list []*http.Request
}

func (r *requests) add(q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, q.Clone(context.Background()))
}

func (r *requests) all() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// record is a Recorder.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (r *record) add(parts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, strings.Join(parts, " "))
}

func (r *record) Passed(what string)       { r.add("passed", what) }
func (r *record) Refused(what, why string) { r.add("refused", what+":", why) }
func (r *record) Failed(what, why string)  { r.add("failed", what+":", why) }

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

// options change what newWorld makes.
type options struct {
	repos  func(r Repo) []Repo // from the usual one
	handle func(w http.ResponseWriter, r *http.Request, git http.Handler)
	allow  func(host string) bool
}

func newWorld(t testing.TB, o options) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, wanted to run the real one")
	}
	dir := t.TempDir()
	w := &world{t: t, dir: dir, bare: filepath.Join(dir, "srv", "me", "app.git"), home: filepath.Join(dir, "home"), record: &record{}, seen: &requests{}}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	w.makeBare()
	dial, roots := w.serveHTTPS(o.handle)
	repos := []Repo{{Remote: testRepo, Fetch: true, Push: []string{"main", "x", "claude/*"}, Login: Login{User: "alice", Password: canary}}}
	if o.repos != nil {
		repos = o.repos(repos[0])
	}
	w.gate = New(Config{Repos: repos, Recorder: w.record, Dial: dial, RootCAs: roots, Allowed: o.allow})
	t.Cleanup(w.gate.Close)
	_, w.port, _ = net.SplitHostPort(conns.Serve(t, w.gate.Serve)) // stands for the VM's port and the link
	return w
}

// makeBare makes the server's repository with three commits and two branches.
func (w *world) makeBare() {
	work := filepath.Join(w.dir, "seed")
	w.must(w.dir, "git", "init", "-q", "-b", "main", work)
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(work, fmt.Sprint("file", i)), bytes.Repeat([]byte{byte('a' + i)}, 100), 0o600); err != nil {
			w.t.Fatal(err)
		}
		w.must(work, "git", "add", ".")
		w.must(work, "git", "commit", "-q", "-m", fmt.Sprint("commit ", i))
	}
	w.must(work, "git", "branch", "other")
	w.must(w.dir, "git", "clone", "-q", "--bare", work, w.bare)
	for _, s := range []string{"http.receivepack=true", "uploadpack.allowFilter=true", "receive.advertisePushOptions=true", "receive.certNonceSeed=x"} {
		name, value, _ := strings.Cut(s, "=")
		w.must(w.bare, "git", "config", name, value)
	}
}

// serveHTTPS runs git http-backend behind TLS and basic auth.
func (w *world) serveHTTPS(handle func(http.ResponseWriter, *http.Request, http.Handler)) (func(context.Context, string, string) (net.Conn, error), *x509.CertPool) {
	git, err := exec.LookPath("git")
	if err != nil {
		w.t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: w.dir,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Join(w.dir, "srv"), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=alice", "HOME=" + w.home},
	}
	whole := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "alice" || password != canary {
			rw.Header().Set("WWW-Authenticate", "Basic")
			http.Error(rw, "login", http.StatusUnauthorized)
			return
		}
		r.TransferEncoding = nil // net/http/cgi takes no chunks, git's backend does
		backend.ServeHTTP(rw, r)
	})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.seen.add(r) // before anything changes it
		if handle != nil {
			handle(rw, r, whole)
			return
		}
		whole.ServeHTTP(rw, r)
	}))
	ca := newCA(w.t)
	server.TLS = ca.config
	server.StartTLS()
	w.address = server.Listener.Addr().String()
	w.t.Cleanup(server.Close)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != testHost+":443" {
			return nil, fmt.Errorf("dialed %s", address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return dial, ca.pool
}

// environ is what the VM's git gets, with the gate's port for wire.GitPort.
func (w *world) environ() []string {
	var remotes []string
	for _, r := range w.gate.config.Repos {
		remotes = append(remotes, r.Remote)
	}
	return append(githost.ByBroker(w.port, remotes...),
		"HOME="+w.home, "PATH="+os.Getenv("PATH"), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "no_proxy=127.0.0.1")
}

func (w *world) run(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	if w.gate != nil {
		cmd.Env = w.environ()
	} else {
		cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) must(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.run(dir, args...)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// fails runs what must fail and say each of the texts.
func (w *world) fails(dir, args string, texts ...string) string {
	w.t.Helper()
	out, err := w.run(dir, strings.Fields(args)...)
	if err == nil {
		w.t.Errorf("%s: works\n%s", args, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			w.t.Errorf("%s: does not say %q:\n%s", args, text, out)
		}
	}
	if strings.Contains(out, canary) {
		w.t.Errorf("%s: the password is in\n%s", args, out)
	}
	return out
}

// clone clones the repository as the VM would.
func (w *world) clone(args ...string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	w.must(w.dir, append(append([]string{"git", "clone", "-q"}, args...), "https://"+testRepo, dir)...)
	return dir
}

// commit adds a commit to a clone.
func (w *world) commit(dir string) string {
	w.t.Helper()
	w.must(dir, "git", "commit", "-q", "--allow-empty", "-m", "more")
	return strings.TrimSpace(w.must(dir, "git", "rev-parse", "HEAD"))
}

// server is an object id at the server, "" if there is none.
func (w *world) server(ref string) string {
	out, err := w.run(w.bare, "git", "rev-parse", "-q", "--verify", ref)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}
