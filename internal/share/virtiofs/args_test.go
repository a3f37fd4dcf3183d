package virtiofs

import (
	"strings"
	"testing"

	"aibox/test/golden"
)

func TestArgs(t *testing.T) {
	got := strings.Join(Args(Line{Socket: 7, UID: 1000, GID: 100, MaxFiles: 4096}), "\n") + "\n"
	golden.Check(t, "testdata/args.golden", got)
}

func TestIsRust(t *testing.T) {
	for text, want := range map[string]bool{
		"virtiofsd 1.13.2\n":        true,
		"virtiofsd backend 1.4.0\n": true,
		"virtiofsd version 7.2.22 (Debian 1:7.2+dfsg-7)\nCopyright": false,
		"":              false,
		"sh: not found": false,
	} {
		if got := isRust(text); got != want {
			t.Errorf("isRust(%q) = %v", text, got)
		}
	}
}

func TestDefaultBundle(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": "/home/u"}, "/home/u/.cache/aibox/virtiofsd"},
		{map[string]string{"HOME": "/home/u", "XDG_CACHE_HOME": "/c"}, "/c/aibox/virtiofsd"},
		{map[string]string{"HOME": "/home/u", "XDG_CACHE_HOME": "relative"}, "/home/u/.cache/aibox/virtiofsd"},
		{map[string]string{"HOME": "/home/u", "AIBOX_VIRTIOFSD": "/v"}, "/v"},
	} {
		if got := DefaultBundle(func(n string) string { return c.env[n] }); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
}
