//go:build vm

package vm

import (
	"net/http"
	"strings"
	"testing"
)

// httpsConfig lists what the tests of HTTPS use.
const httpsConfig = `git:
  - {remote: git.example.test/me/app, fetch: true, push: [main, x, "claude/*"]}
  - {remote: git.example.test/me/readonly, fetch: true}
  - {remote: refuses.example.test/me/app, fetch: true, push: [main]}
  - {remote: moved.example.test/me/app, fetch: true, push: [main]}
  - {remote: open.example.test/me/app, fetch: true}
`

// newHTTPSWorld has one server that takes the host's login, one that does not,
// one that redirects, and one where anyone may read.
func newHTTPSWorld(t *testing.T) *gitWorld {
	t.Helper()
	w := newGitWorld(t)
	w.serveHTTPS(func(rw http.ResponseWriter, r *http.Request) bool {
		switch r.Host {
		case "moved.example.test":
			http.Redirect(rw, r, "https://elsewhere.example.test/you/app.git/info/refs?token=canary-in-a-redirect", http.StatusMovedPermanently)
			return true
		case "open.example.test":
			if r.Header.Get("Authorization") != "" {
				t.Error("a server without a login got one")
			}
			r.SetBasicAuth("alice", w.password) // as if it asked for none
		}
		return false
	}, map[string]string{gitHost: w.password, "refuses.example.test": "wrong", "moved.example.test": w.password, "open.example.test": ""})
	w.config(httpsConfig)
	return w
}

func TestGitHTTPSFetchesAndPushes(t *testing.T) {
	if !inNetwork(t, gitHost, "refuses.example.test", "moved.example.test", "open.example.test") {
		return
	}
	w := newHTTPSWorld(t)
	s := w.shell()
	s.must("git clone -q https://git.example.test/me/app ~/app")
	if got, want := strings.TrimSpace(s.must("cd ~/app && git rev-parse HEAD")), w.server("me/app.git", "main"); got != want {
		t.Errorf("cloned %s, the server has %s", got, want)
	}
	for _, address := range []string{"https://git.example.test/me/app.git", "git@git.example.test:me/app", "git@git.example.test:me/app.git", "ssh://git@git.example.test/me/app.git", "https://open.example.test/me/app"} {
		if out := s.must("git ls-remote " + address + " refs/heads/other"); !strings.Contains(out, w.server("me/app.git", "other")) {
			t.Errorf("%s: %s", address, out)
		}
	}
	if got := s.must("git clone -q --depth 1 https://git.example.test/me/app ~/shallow && cd ~/shallow && git rev-list --count HEAD && git fetch -q --deepen 1 && git rev-list --count HEAD && git fetch -q --unshallow && git rev-list --count HEAD"); got != "1\n2\n3\n" {
		t.Errorf("a shallow clone has %q commits", got)
	}
	if got := s.must("git clone -q --filter=blob:none --no-checkout https://git.example.test/me/app ~/partial && cd ~/partial && git rev-list --objects --missing=print HEAD | grep -c '^?' && git checkout -q main && cat file2"); got != "3\n"+strings.Repeat("line 2\n", 50) {
		t.Errorf("a partial clone prints %q", got)
	}

	id := strings.TrimSpace(s.must(`cd ~/app && git commit -q --allow-empty -m more && git push -q origin main HEAD:refs/heads/claude/fix && git push -q origin HEAD:x && git rev-parse HEAD`))
	for _, ref := range []string{"main", "claude/fix", "x"} {
		if got := w.server("me/app.git", "refs/heads/"+ref); got != id {
			t.Errorf("%s is %q, want %s", ref, got, id)
		}
	}
	if got := w.git(w.bare("me/app.git"), "log", "-1", "--format=%an <%ae>", "main"); got != "Alice <alice@example.test>" {
		t.Errorf("the commit is by %s", got)
	}
	// More than git sends with a length: a probe, and then chunks.
	id = strings.TrimSpace(s.must(`cd ~/app && head -c 5M /dev/urandom > big && git add big && git commit -q -m big && git push -q --atomic origin main HEAD:claude/two && git rev-parse HEAD`))
	if w.server("me/app.git", "main") != id || w.server("me/app.git", "claude/two") != id {
		t.Error("an atomic push of two branches did not arrive")
	}
	if got := strings.TrimSpace(s.must("cd ~/shallow && git fetch -q && git rev-parse origin/main")); got != id {
		t.Errorf("fetched %s, want %s", got, id)
	}

	w.searchVM(s, w.password, basicAuth(w.password))
	s.wait()
	w.logged("git fetch git.example.test/me/app", "git push git.example.test/me/app refs/heads/claude/fix")
	if !strings.Contains(s.stderr.String(), "no login for open.example.test/me/app: git has no login") {
		t.Errorf("the user reads\n%s", s.stderr)
	}
}

func TestGitHTTPSRefuses(t *testing.T) {
	if !inNetwork(t, gitHost, "refuses.example.test", "moved.example.test", "open.example.test") {
		return
	}
	w := newHTTPSWorld(t)
	s := w.shell()
	s.must("git clone -q https://git.example.test/me/app ~/app && cd ~/app && git commit -q --allow-empty -m more && git tag v1 && git clone -q --depth 1 https://git.example.test/me/app ~/shallow && cd ~/shallow && git commit -q --allow-empty -m more")
	before, asked := w.refs(), len(w.site.Seen())
	const rejected = "! [remote rejected]"
	for push, texts := range map[string][]string{
		"origin HEAD:off":            {rejected, `HEAD -> off (aibox: branch not listed; to allow it write in the project's config, at remote: git.example.test/me/app, push: ["main", "x", "claude/*", "off"])`},
		"origin HEAD:refs/heads/x/y": {rejected, "branch not listed"},
		"origin HEAD:claude/a/b":     {rejected, "branch not listed"},
		"origin v1":                  {rejected, "v1 -> v1 (aibox: tags are not passed on"},
		"origin :main":               {rejected, "aibox: no branch is deleted"},
		"--mirror origin":            {rejected, "refs/remotes/origin/main is no branch", "another ref of this push is refused"},
		"origin main HEAD:off":       {rejected, "main -> main (aibox: not passed on, as another ref of this push is refused)", "branch not listed"},
		"origin HEAD:refs/notes/x":   {rejected, "refs/notes/x is no branch"},
		"-o ci.skip origin main":     {"push options"},
		"--signed origin main":       {"--signed push"},
		"origin HEAD:../main":        {"invalid"},
	} {
		s.refuses("cd ~/app && git push "+push, texts...)
	}
	s.refuses("cd ~/shallow && git push origin main", rejected, "a push from a shallow clone is not passed on")
	s.refuses("cd ~/app && git push https://git.example.test/me/readonly main", "pushing to git.example.test/me/readonly is not allowed", `push: ["main"]`)
	s.refuses("git ls-remote https://git.example.test/me/app2", `me/app2 is not listed; to allow it add to "git" in the project's config: {remote: git.example.test/me/app2, fetch: true}`)
	s.refuses("git ls-remote https://git.example.test/you/app", "403") // by the proxy
	s.refuses("GIT_SMART_HTTP=0 git ls-remote https://git.example.test/me/app", "only git's smart protocol is served here")
	for _, r := range w.site.Seen()[asked:] {
		if !strings.HasSuffix(r, "/me/app.git/info/refs?service=git-receive-pack") {
			t.Errorf("the server was asked %s", r)
		}
	}
	s.refuses("git ls-remote https://refuses.example.test/me/app", "refuses the login that git on the host has for it (HTTP 401)")
	s.refuses("git ls-remote https://moved.example.test/me/app", "redirects to elsewhere.example.test/you/app, which is not followed")
	for _, path := range []string{
		"/git.example.test/me/../you/app/info/refs?service=git-upload-pack", "/git.example.test/me/app/../../you/app/info/refs?service=git-upload-pack",
		"/git.example.test/me%2fapp/info/refs?service=git-upload-pack", "/git.example.test/me/%2e%2e/you/app/info/refs?service=git-upload-pack",
		"//git.example.test/me/app/info/refs?service=git-upload-pack", "/git.example.test/me/app/./info/refs?service=git-upload-pack",
		"/git.example.test/me/app/info/refs", "/git.example.test/me/app/objects/info/packs", "/git.example.test/me/app/HEAD", "/", "/git.example.test/you/app/info/refs?service=git-upload-pack",
	} {
		if got := s.must("curl -sS --path-as-is -o /dev/null -w '%{http_code}' -H 'Git-Protocol: version=2' 'http://127.0.0.1:3130" + path + "'"); got != "403" {
			t.Errorf("%s: HTTP %s", path, got)
		}
	}
	if after := w.refs(); after != before {
		t.Errorf("refs moved from\n%s\nto\n%s", before, after)
	}
	w.searchVM(s, w.password, basicAuth(w.password), "canary-in-a-redirect")
	s.wait()
	if want := "aibox: git push git.example.test/me/app refs/heads/off: branch not listed"; !strings.Contains(s.stderr.String(), want) {
		t.Errorf("at the end the user reads no %q in\n%s", want, s.stderr)
	}
	w.logged("refused git push git.example.test/me/app refs/heads/off", "refs/tags/v1", "git.example.test/me/app2")
}
