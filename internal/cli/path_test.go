package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPathOutside(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/src/app/bin", "home/src/app-tools", "home/bin", "usr/bin"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"home/in": "src/app/bin", "home/src/app/out": at("usr/bin"), "home/project": "src/app"} {
		if err := os.Symlink(filepath.FromSlash(target), at(link)); err != nil {
			t.Skipf("this user may make no links: %v", err)
		}
	}
	list := func(names ...string) string {
		for i, name := range names {
			if name != "" && name[0] != '.' {
				names[i] = at(name)
			}
		}
		return strings.Join(names, string(filepath.ListSeparator))
	}
	all := []string{"home/src/app/bin", "home/src/app", "home/in", "home/src/app/out", "", "./bin", "home/src/app/gone", "home/src/app-tools", "home/bin", "usr/bin", "gone"}
	safe := []string{"home/src/app-tools", "home/bin", "usr/bin", "gone"}
	for dir, want := range map[string][]string{"home/src/app": safe, "home/project": safe, "home": all, "": all} {
		if got := pathOutside(list(append([]string(nil), all...)...), at(dir), at("home")); got != list(append([]string(nil), want...)...) {
			t.Errorf("in %q: %s", dir, strings.ReplaceAll(got, root, ""))
		}
	}
}
