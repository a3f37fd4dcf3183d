package gitgate

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestGitFetches(t *testing.T) {
	w := newWorld(t, options{})
	dir := w.clone()
	if got, want := strings.TrimSpace(w.must(dir, "git", "rev-parse", "HEAD")), w.server("main"); got != want {
		t.Errorf("cloned %s, the server has %s", got, want)
	}
	for _, address := range []string{"https://" + testRepo + ".git", "git@" + testHost + ":me/app", "git@" + testHost + ":me/app.git", "ssh://git@" + testRepo, "ssh://git@" + testRepo + ".git"} {
		if out := w.must(w.dir, "git", "ls-remote", address, "refs/heads/other"); !strings.Contains(out, w.server("other")) {
			t.Errorf("%s: %s", address, out)
		}
	}
	shallow := w.clone("--depth", "1")
	if n := strings.TrimSpace(w.must(shallow, "git", "rev-list", "--count", "HEAD")); n != "1" {
		t.Errorf("a shallow clone has %s commits", n)
	}
	w.must(shallow, "git", "fetch", "-q", "--deepen", "1")
	w.must(shallow, "git", "fetch", "-q", "--unshallow")
	if n := strings.TrimSpace(w.must(shallow, "git", "rev-list", "--count", "HEAD")); n != "3" {
		t.Errorf("a clone that was shallow has %s commits", n)
	}
	partial := w.clone("--filter=blob:none", "--no-checkout")
	if out := w.must(partial, "git", "rev-list", "--objects", "--missing=print", "HEAD"); strings.Count(out, "?") != 3 {
		t.Errorf("a partial clone misses:\n%s", out)
	}
	w.must(partial, "git", "checkout", "-q", "main") // fetches the files now
	if _, err := os.Stat(filepath.Join(partial, "file2")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(w.record.String(), "passed git fetch "+testRepo) {
		t.Errorf("the log is\n%s", w.record)
	}
}

// TestGitFetchOfManyCommits has requests long enough for git to pack.
func TestGitFetchOfManyCommits(t *testing.T) {
	w := newWorld(t, options{})
	dir := w.clone()
	for range 60 { // haves that the server does not know
		w.commit(dir)
	}
	seed := filepath.Join(w.dir, "seed")
	w.commit(seed)
	w.must(seed, "git", "push", "-q", w.bare, "main")
	w.must(dir, "git", "-c", "fetch.negotiationAlgorithm=default", "fetch", "-q")
	if got := strings.TrimSpace(w.must(dir, "git", "rev-parse", "origin/main")); got != w.server("main") {
		t.Errorf("fetched %s", got)
	}
}

func TestGitPushes(t *testing.T) {
	w := newWorld(t, options{})
	dir := w.clone()
	id := w.commit(dir)
	for _, ref := range []string{"main", "HEAD:refs/heads/claude/fix", "HEAD:x"} {
		w.must(dir, "git", "push", "-q", "origin", ref)
	}
	for _, ref := range []string{"main", "claude/fix", "x"} {
		if got := w.server("refs/heads/" + ref); got != id {
			t.Errorf("%s is %q, want %s", ref, got, id)
		}
	}
	id = w.commit(dir)
	w.must(dir, "git", "push", "-q", "--atomic", "origin", "main", "HEAD:claude/two")
	if w.server("main") != id || w.server("claude/two") != id {
		t.Error("an atomic push of two branches did not arrive")
	}
	// The server's own rules speak through the gate.
	w.must(w.bare, "git", "config", "receive.denyNonFastForwards", "true")
	w.must(dir, "git", "reset", "-q", "--hard", "HEAD~1")
	w.fails(dir, "git push --force origin main", "[remote rejected]", "non-fast-forward")
	if log := w.record.String(); !strings.Contains(log, "passed git push "+testRepo+" refs/heads/claude/fix") {
		t.Errorf("the log is\n%s", log)
	}
}

// TestGitPushInChunks sends more than git sends with a length: first its probe,
// then chunks.
func TestGitPushInChunks(t *testing.T) {
	w := newWorld(t, options{})
	dir := w.clone()
	writeNoise(t, filepath.Join(dir, "big"), 3<<20)
	w.must(dir, "git", "add", ".")
	id := w.commit(dir)
	w.must(dir, "git", "push", "-q", "origin", "main")
	if w.server("main") != id {
		t.Error("the push did not arrive")
	}
	chunked := false
	for _, r := range w.seen.all() {
		chunked = chunked || r.Method == http.MethodPost && r.ContentLength < 0
	}
	if !chunked {
		t.Error("no request was chunked, which this test is about")
	}
	again := w.clone()
	if got := strings.TrimSpace(w.must(again, "git", "rev-parse", "HEAD")); got != id {
		t.Errorf("cloned %s", got)
	}
	// Refused, it is read to its end, so that git shows why.
	writeNoise(t, filepath.Join(dir, "big"), 3<<20)
	w.must(dir, "git", "commit", "-q", "-a", "-m", "big")
	w.fails(dir, "git push origin HEAD:off", "[remote rejected]", "branch not listed")
}

// TestGitRefusesPushes shows each refusal as git shows it, and that the server
// was not even asked to move anything.
func TestGitRefusesPushes(t *testing.T) {
	w := newWorld(t, options{})
	dir := w.clone()
	w.commit(dir)
	w.must(dir, "git", "tag", "v1")
	before := w.must(w.bare, "git", "for-each-ref")
	const rejected = "! [remote rejected]"
	for _, c := range []struct {
		push  string
		texts []string
	}{
		{"origin HEAD:off", []string{rejected, `HEAD -> off (aibox: branch not listed; to allow it write in the project's config, at remote: ` + testRepo + `, push: ["main", "x", "claude/*", "off"])`}},
		{"origin HEAD:refs/heads/x/y", []string{rejected, "branch not listed"}},
		{"origin HEAD:claude/a/b", []string{rejected, "branch not listed"}},
		{"origin v1", []string{rejected, "v1 -> v1 (aibox: tags are not passed on"}},
		{"origin :main", []string{rejected, "aibox: no branch is deleted"}},
		{"--mirror origin", []string{rejected, "refs/remotes/origin/main is no branch", "another ref of this push is refused"}},
		{"origin main HEAD:off", []string{rejected, "main -> main (aibox: not passed on, as another ref of this push is refused)"}},
		{"origin HEAD:refs/notes/x", []string{rejected, "refs/notes/x is no branch"}},
		{"-o ci.skip origin main", []string{"push options"}},
		{"--signed origin main", []string{"--signed push"}},
	} {
		w.fails(dir, "git push "+c.push, c.texts...)
	}
	shallow := w.clone("--depth", "1")
	w.commit(shallow)
	w.fails(shallow, "git push origin main", rejected, "a push from a shallow clone is not passed on")
	if after := w.must(w.bare, "git", "for-each-ref"); after != before {
		t.Errorf("refs moved from\n%sto\n%s", before, after)
	}
	for _, r := range w.seen.all() {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			t.Error("a refused push reached the server")
		}
	}
	if log := w.record.String(); !strings.Contains(log, "refused git push "+testRepo+" refs/heads/off: branch not listed") {
		t.Errorf("the log is\n%s", log)
	}
}

func TestGitRefusesRepositories(t *testing.T) {
	w := newWorld(t, options{repos: func(r Repo) []Repo {
		fetchOnly, pushOnly := r, r
		fetchOnly.Remote, fetchOnly.Push = testHost+"/me/readonly", nil
		pushOnly.Remote, pushOnly.Fetch = testHost+"/me/writeonly", false
		return []Repo{r, fetchOnly, pushOnly}
	}})
	w.fails(w.dir, "git ls-remote https://"+testHost+"/me/app2", `me/app2 is not listed; to allow it add to "git" in the project's config: {remote: `+testHost+"/me/app2, fetch: true}")
	w.fails(w.dir, "git ls-remote https://"+testHost+"/me/writeonly", "fetching from "+testHost+"/me/writeonly is not allowed")
	dir := w.clone()
	w.commit(dir)
	w.fails(dir, "git push https://"+testHost+"/me/readonly main", "pushing to "+testHost+"/me/readonly is not allowed", `push: ["main"]`)
	w.fails(dir, "git -c protocol.version=0 ls-remote origin", "takes version 2")
	if len(w.seen.all()) != 3 { // the clone's
		t.Errorf("%d requests reached the server", len(w.seen.all()))
	}
}

func TestGitServerFails(t *testing.T) {
	answer := map[string]http.HandlerFunc{
		"401":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"404":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
		"500":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"html": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.test/you/app.git/info/refs?service=x&token=secret", http.StatusMovedPermanently)
		},
		"empty": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		},
		"old": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = w.Write([]byte("001e# service=git-upload-pack\n0000003faaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa refs/heads/main\x00caps 0000"))
		},
	}
	var kind atomic.Value
	kind.Store("")
	w := newWorld(t, options{handle: func(rw http.ResponseWriter, r *http.Request, git http.Handler) {
		rw.Header().Set("Set-Cookie", canary)
		if a := answer[kind.Load().(string)]; a != nil {
			a(rw, r)
			return
		}
		git.ServeHTTP(rw, r)
	}})
	dir := w.clone()
	w.commit(dir)
	for k, texts := range map[string][]string{
		"401":      {"refuses the login that git on the host has for it (HTTP 401)"},
		"404":      {"knows no repository me/app"},
		"500":      {"answers with HTTP 500"},
		"html":     {"not git's smart protocol"},
		"redirect": {"redirects to elsewhere.example.test/you/app, which is not followed"},
		"empty":    {"offers nothing"},
		"old":      {"does not speak version 2"},
	} {
		kind.Store(k)
		out := w.fails(dir, "git ls-remote origin", append(texts, "remote: aibox: "+testRepo+": ")...)
		if strings.Contains(out, "secret") || strings.Contains(out, "Username") {
			t.Errorf("%s: git says\n%s", k, out)
		}
	}
	// Failing later, it is told in git's own ways.
	w2 := newWorld(t, options{handle: func(rw http.ResponseWriter, r *http.Request, git http.Handler) {
		if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "upload-pack") || r.Header.Get("X-Fail") != "" {
			rw.WriteHeader(500)
			return
		}
		git.ServeHTTP(rw, r)
	}})
	dir = w2.clone()
	w2.commit(dir)
	w2.fails(dir, "git push origin main", "! [remote rejected]", "answers with HTTP 500")
	w3 := newWorld(t, options{handle: func(rw http.ResponseWriter, r *http.Request, git http.Handler) {
		if r.Method == http.MethodPost {
			rw.WriteHeader(403)
			return
		}
		git.ServeHTTP(rw, r)
	}})
	w3.fails(w3.dir, "git ls-remote https://"+testRepo, "remote error: aibox: ", "HTTP 403")
}

// TestGitWithoutLogin reads a repository that anyone may read, and says why
// there is no login where one is needed.
func TestGitWithoutLogin(t *testing.T) {
	none := func(r Repo) []Repo {
		r.Login = Login{Why: "git has none, and ssh does not know the host"}
		return []Repo{r}
	}
	w := newWorld(t, options{repos: none})
	w.fails(w.dir, "git ls-remote https://"+testRepo, "asks for a login (HTTP 401); without a login, since git has none, and ssh does not know the host")
	w = newWorld(t, options{repos: none, handle: func(rw http.ResponseWriter, r *http.Request, git http.Handler) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a login was sent")
		}
		r.SetBasicAuth("alice", canary)
		git.ServeHTTP(rw, r)
	}})
	w.must(w.dir, "git", "ls-remote", "https://"+testRepo)
}

// TestGitNothingOfTheVMs sends what a VM would like to see at the server.
func TestGitNothingOfTheVMs(t *testing.T) {
	w := newWorld(t, options{})
	w.must(w.dir, "git", "-c", "http.extraHeader=Authorization: Basic YTpi", "-c", "http.extraHeader=Cookie: a=b",
		"-c", "http.extraHeader=X-Own: 1", "-c", "http.userAgent=own", "ls-remote", "https://"+testRepo)
	for _, r := range w.seen.all() {
		if user, password, _ := r.BasicAuth(); user != "alice" || password != canary {
			t.Errorf("%s %s is by %s", r.Method, r.URL, user)
		}
		if r.Header.Get("Cookie") != "" || r.Header.Get("X-Own") != "" || strings.Contains(r.UserAgent(), "own") || r.Host != testHost {
			t.Errorf("%s %s has %v for %s", r.Method, r.URL, r.Header, r.Host)
		}
	}
}

// TestGitSentBack is for a repository whose name begins with a listed one's.
func TestGitSentBack(t *testing.T) {
	w := newWorld(t, options{allow: func(host string) bool { return host == testHost }})
	w.fails(w.dir, "git ls-remote https://"+testRepo+"2", "127.0.0.1 port 9") // the proxy of this VM
	w.fails(w.dir, "git ls-remote http://127.0.0.1:"+w.port+"/"+testHost+"/you/app", "is not listed")
}
