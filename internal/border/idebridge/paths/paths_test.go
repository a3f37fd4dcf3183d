package paths

import (
	"errors"
	"net/url"
	"path"
	"strings"
	"testing"
)

// project has a link at "link" and was opened by another name.
func project() Project {
	return Project{Roots: []string{"/srv/by-link/my app", "/src/my app"}, Check: func(rel string) error {
		if rel == "link" || strings.HasPrefix(rel, "link/") {
			return errors.New("link")
		}
		return nil
	}}
}

func TestToHost(t *testing.T) {
	for guest, want := range map[string]string{
		"/project":            "/srv/by-link/my app",
		"/project/a.go":       "/srv/by-link/my app/a.go",
		"/project/a b/ü%2e#?": "/srv/by-link/my app/a b/ü%2e#?",
		"/project/...":        "/srv/by-link/my app/...",
	} {
		if got, err := project().ToHost(guest); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", guest, got, err, want)
		}
	}
	for _, guest := range []string{
		"", "/", "project/a", "./a", "/projects/a", "/project2", "/etc/passwd", "/project/../etc/passwd", "/project/..", "/project/./a", "/project/",
		"/project//a", "//project/a", "/project/a/", "/project/a\x00", "/project/a\nb", `/project/..\..\a`, `\\server\share`, `C:\a`, "~/a",
		"/project/link", "/project/link/a", "/project/\xff", "/project/" + strings.Repeat("a", maxPath), "/src/my app/a", "/Project/a",
	} {
		if got, err := project().ToHost(guest); got != "" || !errors.Is(err, ErrOutside) {
			t.Errorf("%q: %q, %v", guest, got, err)
		}
	}
}

func TestToGuest(t *testing.T) {
	for host, want := range map[string]string{"/srv/by-link/my app/x/y": "/project/x/y", "/src/my app/x": "/project/x", "/src/my app": "/project"} {
		if got, err := project().ToGuest(host); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", host, got, err, want)
		}
	}
	for _, host := range []string{"/src/my app2/x", "/src/other", "/project/x", "/src/my app/link/id_rsa", "Untitled-1", "/src/my app/../other"} {
		if got, err := project().ToGuest(host); err == nil {
			t.Errorf("%q: %q", host, got)
		}
	}
}

func TestURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///project/a.go":          "file:///srv/by-link/my%20app/a.go",
		"file:///project/a%20b":         "file:///srv/by-link/my%20app/a%20b",
		"file:///project/a b":           "file:///srv/by-link/my%20app/a%20b",
		"file:///project/a#b?c":         "file:///srv/by-link/my%20app/a%23b%3Fc",
		"file:///project/%252e%252e":    "file:///srv/by-link/my%20app/%252e%252e",
		"_claude_fs_right:/project/a":   "_claude_fs_right:/srv/by-link/my%20app/a",
		"file:///%70roject/a":           "file:///srv/by-link/my%20app/a",
		"_claude_fs_left:/project/a%41": "_claude_fs_left:/srv/by-link/my%20app/aA",
	} {
		if got, err := project().URIToHost(uri); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", uri, got, err, want)
		}
	}
	for _, uri := range []string{
		"", "/project/a", "file:/project/a", "file:project/a", "FILE:///project/a", "http:///project/a", "file://localhost/project/a",
		"file://server/project/a", "file:////project/a", "file://///server/share", "file:///project/%2e%2e/a", "file:///project/%2E%2E%2Fa",
		"file:///project/..%2fa", "file:///project/%5c..%5c", "file:///project/%00", "file:///project/%zz", "file:///project/%", "file:///project/link%2fa",
		"file:///C:/a", "file:///c%3A/a", "vscode-remote://x/project/a", "untitled:/project/a", "file://%2fproject/a/..",
	} {
		if got, err := project().URIToHost(uri); got != "" || !errors.Is(err, ErrOutside) {
			t.Errorf("%q: %q, %v", uri, got, err)
		}
	}
	if got, err := project().URIToGuest("file:///src/my%20app/a%20b"); got != "file:///project/a%20b" || err != nil {
		t.Errorf("to the VM: %q, %v", got, err)
	}
}

// FuzzPaths asks that what comes out is below the project for every reader of
// it, and swaps back to what went in.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"/project/a", "/project/../a", "file:///project/%2e%2e/a", "file://h/project/a", `file:///project\a`, "/src/my app/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := project()
		if host, err := p.ToHost(s); err == nil {
			if path.Clean(host) != host || host != p.Roots[0] && !strings.HasPrefix(host, p.Roots[0]+"/") {
				t.Errorf("%q: %q", s, host)
			}
			if back, err := p.ToGuest(host); back != s || err != nil {
				t.Errorf("%q: back %q, %v", s, back, err)
			}
		}
		if uri, err := p.URIToHost(s); err == nil {
			u, err := url.Parse(uri)
			if err != nil {
				t.Fatalf("%q: %q: %v", s, uri, err)
			}
			if u.Host != "" || u.RawQuery != "" || u.Fragment != "" {
				t.Errorf("%q: %q has more than a path", s, uri)
			}
			if u.Opaque == "" && u.Path != p.Roots[0] && !strings.HasPrefix(u.Path, p.Roots[0]+"/") {
				t.Errorf("%q: %q leads to %q", s, uri, u.Path)
			}
		}
	})
}
