// Package route knows how git in the VM addresses the repositories of package
// gitgate: the settings that lead git there, and the targets of the requests that
// git then makes.
//
// The VM's git, or anything in its place, sends the targets. What is read has
// one spelling alone; a longer one than maxTarget is refused.
package route

import (
	"errors"
	"net/http"
	"strings"

	"aibox/internal/border/gitgate/upstream"
)

// maxTarget bounds a request's target in bytes.
const maxTarget = 1000

// Target is what a request is for.
type Target struct {
	Repo    string // host/path without ".git"
	Service upstream.Service
	Offer   bool // the service's offer is asked for; else it is an exchange
}

// errDumb is for the protocol of files over HTTP, which git falls back to.
var errDumb = errors.New("only git's smart protocol is served here")

var errTarget = errors.New("no git request has this target")

// Parse reads a request's target, byte for byte: no escapes, no dot
// segments, no second slash, no other query than git's. A target that is read
// has one spelling alone, but for the ".git".
func Parse(method, uri string) (t Target, err error) {
	if len(uri) > maxTarget || !strings.HasPrefix(uri, "/") {
		return Target{}, errTarget
	}
	path, query, asks := strings.Cut(uri[1:], "?")
	if !plainPath(path) {
		return Target{}, errTarget
	}
	if repo, ok := strings.CutSuffix(path, "/info/refs"); ok && method == http.MethodGet {
		name, named := strings.CutPrefix(query, "service=")
		switch {
		case !asks || name == "":
			return Target{}, errDumb
		case !named:
			return Target{}, errTarget
		}
		t = Target{repo, upstream.Service(name), true}
	} else if i := strings.LastIndexByte(path, '/'); i > 0 && method == http.MethodPost && !asks {
		t = Target{path[:i], upstream.Service(path[i+1:]), false}
	} else if method == http.MethodGet && !asks {
		return Target{}, errDumb
	}
	t.Repo = strings.TrimSuffix(t.Repo, ".git")
	if t.Service != upstream.UploadPack && t.Service != upstream.ReceivePack || !strings.Contains(t.Repo, "/") || !plainPath(t.Repo) {
		return Target{}, errTarget
	}
	return t, nil
}

const pathBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+~"

func plainPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if strings.Trim(part, ".") == "" || strings.Trim(part, pathBytes) != "" {
			return false
		}
	}
	return true
}

// Original is the target of a request under the repository's real address,
// which is how the VM's git would have asked without its settings.
func (t Target) Original() string {
	return "https://" + t.Repo + "/info/refs?service=" + string(t.Service)
}

// String names the request in a log.
func (t Target) String() string {
	if t.Service == upstream.ReceivePack {
		return "git push " + t.Repo
	}
	return "git fetch " + t.Repo
}
