package route

import (
	"net/url"
	"strings"
	"testing"

	"aibox/internal/border/gitgate/upstream"
)

func TestParse(t *testing.T) {
	const get, post = "GET", "POST"
	for _, c := range []struct {
		method, uri string
		want        Target
		err         error
	}{
		{get, "/h.test/me/app/info/refs?service=git-upload-pack", Target{"h.test/me/app", upstream.UploadPack, true}, nil},
		{get, "/h.test/me/app.git/info/refs?service=git-receive-pack", Target{"h.test/me/app", upstream.ReceivePack, true}, nil},
		{post, "/h.test/a/b/c+d~e/git-upload-pack", Target{"h.test/a/b/c+d~e", upstream.UploadPack, false}, nil},
		{post, "/h.test/me/app.git/git-receive-pack", Target{"h.test/me/app", upstream.ReceivePack, false}, nil},
		{get, "/h.test/me/app/info/refs", Target{}, errDumb},
		{get, "/h.test/me/app/HEAD", Target{}, errDumb},
		{get, "/h.test/me/app/objects/info/packs", Target{}, errDumb},
		{get, "/h.test/me/app/info/refs?service=git-upload-archive", Target{}, errTarget},
		{get, "/h.test/me/app/info/refs?service=git-upload-pack&x=y", Target{}, errTarget},
		{get, "/h.test/me/app/info/refs?x=y&service=git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/app/info/refs?service=git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/app/git-upload-pack?x", Target{}, errTarget},
		{get, "/h.test/me/app/git-upload-pack", Target{}, errDumb},
		{"PUT", "/h.test/me/app/git-upload-pack", Target{}, errTarget},
		{"HEAD", "/h.test/me/app/info/refs?service=git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/../you/app/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/./app/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/.../git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/...git/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/.git/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me%2Fapp/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/app%2e/git-upload-pack", Target{}, errTarget},
		{post, "/h.test//me/app/git-upload-pack", Target{}, errTarget},
		{post, "//h.test/me/app/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me\\app/git-upload-pack", Target{}, errTarget},
		{post, "/h.test:443/me/app/git-upload-pack", Target{}, errTarget},
		{post, "/u@h.test/me/app/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/git-upload-pack", Target{}, errTarget},
		{post, "/git-upload-pack", Target{}, errTarget},
		{post, "http://h.test/me/app/git-upload-pack", Target{}, errTarget},
		{post, "/h.test/me/app/git-upload-pack#x", Target{}, errTarget},
		{post, "/" + strings.Repeat("a/", 600) + "git-upload-pack", Target{}, errTarget},
		{post, "", Target{}, errTarget},
		{"OPTIONS", "*", Target{}, errTarget},
	} {
		if got, err := Parse(c.method, c.uri); got != c.want || err != c.err {
			t.Errorf("%s %s: %+v, %v, want %+v, %v", c.method, c.uri, got, err, c.want, c.err)
		}
	}
}

func TestSettings(t *testing.T) {
	var got string
	for _, s := range Settings([]string{"h.test/me/app"}) {
		got += s.Name + "=" + s.Value + "\n"
	}
	const name = "url.http://127.0.0.1:3130/h.test/me/app.insteadOf="
	if want := name + "https://h.test/me/app\n" + name + "git@h.test:me/app\n" + name + "ssh://git@h.test/me/app\n"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if Settings(nil) != nil {
		t.Error("settings for no repository")
	}
}

// FuzzParse asks for what is promised: one spelling, which a URL's reader does
// not see otherwise, and nothing with an error.
func FuzzParse(f *testing.F) {
	f.Add("GET", "/h.test/me/app.git/info/refs?service=git-upload-pack")
	f.Add("GET", "/h.test/me/app.git/info/refs?git-upload-pack")
	f.Add("POST", "/h.test/me/app/git-receive-pack")
	f.Add("POST", "/h.test/me/../app/git-receive-pack")
	f.Fuzz(func(t *testing.T, method, uri string) {
		got, err := Parse(method, uri)
		if err != nil {
			if got != (Target{}) {
				t.Fatalf("%+v with %v", got, err)
			}
			return
		}
		u, err := url.ParseRequestURI(uri)
		if err != nil || u.Path != u.EscapedPath() || u.JoinPath().Path != u.Path {
			t.Fatalf("%q is %q to others, %v", uri, u, err)
		}
		again := "/" + got.Repo + "/" + string(got.Service)
		if got.Offer {
			again = "/" + got.Repo + "/info/refs?service=" + string(got.Service)
		}
		if uri != again && uri != strings.Replace(again, got.Repo, got.Repo+".git", 1) {
			t.Fatalf("%q is read as %q", uri, again)
		}
	})
}
