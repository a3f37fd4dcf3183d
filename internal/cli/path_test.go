package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aibox/internal/project"
)

func TestPathWithout(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/src/app/bin", "home/src/app-tools", "home/other/bin", "home/bin", "usr/bin"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"home/in": "src/app/bin", "home/src/app/out": at("usr/bin"), "home/project": "src/app"} {
		if err := os.Symlink(filepath.FromSlash(target), at(link)); err != nil {
			t.Skipf("this user may make no links: %v", err)
		}
	}
	t.Setenv("HOME", at("home"))
	place, err := project.NewPlace(at("home"))
	if err != nil {
		t.Fatal(err)
	}
	if err := place.Kept(at("home/other")).Create(); err != nil {
		t.Fatal(err)
	}
	path := func(names ...string) string {
		list := slices.Clone(names)
		for i, name := range list {
			if name != "" && name[0] != '.' {
				list[i] = at(name)
			}
		}
		return strings.Join(list, string(filepath.ListSeparator))
	}
	all := path("home/src/app/bin", "home/src/app", "home/in", "home/src/app/out", "", "./bin", "home/src/app/gone",
		"home/other/bin", "home/project/bin", "home/src/app-tools", "home/bin", "usr/bin", "gone")
	app := []string{"home/src/app/bin", "home/src/app", "home/in", "home/src/app/out", "home/src/app/gone"}
	outside := []string{"home/src/app-tools", "home/bin", "usr/bin", "gone"}
	for dir, want := range map[string]string{
		"home/src/app": path(outside...), "home/project": path(outside...),
		// none of these can be a project, and only the kept one counts
		"home": path(slices.Concat(app, []string{"home/project/bin"}, outside)...), "": path(slices.Concat(app, []string{"home/project/bin"}, outside)...),
	} {
		t.Chdir(at(dir))
		if got := pathWithout(all, writtenByVMs(at("home"))); got != want {
			t.Errorf("in %q: %s", dir, strings.ReplaceAll(got, root, ""))
		}
	}
	if got := pathWithout("./bin", []fs.FileInfo(nil)); got != "/usr/bin:/bin" {
		t.Errorf("of nothing else %q remains", got)
	}
}

func TestGuardProgramsLeavesAnEmptyPath(t *testing.T) {
	t.Setenv("PATH", "")
	guardPrograms()
	if got := os.Getenv("PATH"); got != "" {
		t.Errorf("PATH became %q", got)
	}
}

func TestGuardPrograms(t *testing.T) {
	dir := t.TempDir()
	home := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", home)
	for value, keep := range map[string]bool{filepath.Join(dir, "config"): false, filepath.Join(home, "config"): true} {
		t.Setenv("XDG_CONFIG_HOME", value)
		t.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+home)
		guardPrograms()
		if got, ok := os.LookupEnv("XDG_CONFIG_HOME"); ok != keep || keep && got != value {
			t.Errorf("XDG_CONFIG_HOME=%s became %q, %v", value, got, ok)
		}
		if got := os.Getenv("PATH"); got != home {
			t.Errorf("PATH became %s", got)
		}
	}
}
