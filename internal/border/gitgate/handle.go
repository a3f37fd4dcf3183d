package gitgate

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"aibox/internal/border/gitgate/route"
	"aibox/internal/border/gitgate/upstream"
	"aibox/internal/plain"
)

func line(text string) string { return plain.LineMax(text, maxLogged) }

// refuse answers with a status and one line, which git shows. Never 401, for
// which git would ask its user for a login.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, "aibox: "+plain.LineMax(text, maxReasonLen))
}

// handle serves one request.
func (g *Gate) handle(w http.ResponseWriter, r *http.Request) {
	t, err := route.Parse(r.Method, r.RequestURI)
	if err != nil {
		g.config.Recorder.Refused("git "+line(r.Method+" "+r.RequestURI), err.Error())
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	listed := g.repos[t.Repo]
	if listed == nil && t.Offer && g.sentBack(t) {
		http.Redirect(w, r, t.Original(), http.StatusFound)
		return
	}
	if text := decide(t, listed); text != "" {
		g.config.Recorder.Refused(line(t.String()), line(text))
		refuse(w, http.StatusForbidden, text)
		return
	}
	x, err := g.begin(w, r, t, listed)
	if err != nil {
		g.config.Recorder.Refused(line(t.String()), err.Error())
		refuse(w, http.StatusUnsupportedMediaType, err.Error())
		return
	}
	defer x.end()
	switch {
	case t.Offer && t.Service == upstream.UploadPack && !asksVersion2(r):
		refuse(w, http.StatusBadRequest, "fetching takes version 2 of git's protocol; run: git config --global --unset protocol.version")
	case t.Offer:
		x.offer()
	case t.Service == upstream.UploadPack:
		x.fetch()
	default:
		x.push()
	}
}

// decide returns why the service of a repository is refused, "" if it is not.
// listed is nil for a repository that is off the list.
func decide(t route.Target, listed *repo) string {
	fetches := t.Service == upstream.UploadPack
	switch {
	case listed == nil && fetches:
		return t.Repo + ` is not listed; to allow it add to "git" in the project's config: {remote: ` + t.Repo + ", fetch: true}"
	case listed == nil:
		return t.Repo + ` is not listed; to allow it add to "git" in the project's config: {remote: ` + t.Repo + `, fetch: true, push: ["main"]}`
	case fetches && !listed.Fetch:
		return "fetching from " + t.Repo + " is not allowed; to allow it write in the project's config, at remote: " + t.Repo + ", fetch: true"
	case !fetches && len(listed.Push) == 0:
		return "pushing to " + t.Repo + " is not allowed; to allow it write in the project's config, at remote: " + t.Repo + `, push: ["main"]`
	}
	return ""
}

// sentBack tells whether a repository that is off the list came here because
// its address begins with a listed one's, and has another way.
func (g *Gate) sentBack(t route.Target) bool {
	host, _, _ := strings.Cut(t.Repo, "/")
	if g.config.Allowed == nil || !g.config.Allowed(host) {
		return false
	}
	for remote := range g.repos {
		if strings.HasPrefix(t.Repo, remote) {
			return true
		}
	}
	return false
}

// asksVersion2 reads the one header of the VM's that counts: a list such as
// "version=2:other=x".
func asksVersion2(r *http.Request) bool {
	for name := range strings.SplitSeq(r.Header.Get("Git-Protocol"), ":") {
		if name == "version=2" {
			return true
		}
	}
	return false
}

// errBody is for a request that broke while it was read.
var errBody = errors.New("the request is incomplete or malformed")
