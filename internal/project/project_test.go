package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/fault"
)

// world is a home with a project in it.
type world struct {
	Place
	home, project string
}

func newWorld(t *testing.T) world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{home: filepath.Join(base, "home", "me")}
	w.project = filepath.Join(w.home, "src", "app")
	if err := os.MkdirAll(w.project, 0o700); err != nil {
		t.Fatal(err)
	}
	if w.Place, err = NewPlace(w.home); err != nil {
		t.Fatal(err)
	}
	return w
}

// kept creates what is kept for the world's project.
func (w world) kept(t *testing.T) Kept {
	t.Helper()
	k := w.Kept(w.project)
	if err := k.Create(); err != nil {
		t.Fatal(err)
	}
	return k
}

// refused checks an error's kind and text, and that it has a hint.
func refused(t *testing.T, what string, err error, kind fault.Kind, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error, want %q", what, want)
	case !strings.Contains(err.Error(), want):
		t.Errorf("%s: %q, want %q", what, err, want)
	case fault.KindOf(err) != kind:
		t.Errorf("%s: %v has kind %d, want %d", what, err, fault.KindOf(err), kind)
	case fault.HintOf(err) == "":
		t.Errorf("%s: %v has no hint", what, err)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestCreateMakesPrivateFolders(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	for _, dir := range []string{w.Root, filepath.Join(w.Root, "projects"), k.Dir, k.Home(), k.Tasks()} {
		if info, err := os.Lstat(dir); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %v, %v, want a folder with 0700", dir, info, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(k.Dir, "path")); err != nil || string(got) != w.project {
		t.Errorf("path = %q, %v", got, err)
	}
}

func TestCreateNarrowsRights(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	must(t, os.WriteFile(k.Config(), nil, 0o600), os.Chmod(k.Config(), 0o664))
	for _, dir := range []string{w.Root, k.Dir, k.Home()} {
		must(t, os.Chmod(dir, 0o755))
	}
	w.kept(t)
	for _, path := range []string{w.Root, k.Dir, k.Home(), k.Config()} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v, want no rights for others", path, info.Mode(), err)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	must(t, os.Remove(k.Home()), os.Symlink(w.project, k.Home()))
	refused(t, "home is a link", k.Create(), fault.Refused, "must be a folder of its own, but is a link")
	must(t, os.Remove(k.Home()), os.WriteFile(k.Home(), nil, 0o600))
	refused(t, "home is a file", k.Create(), fault.Refused, "must be a folder of its own, but is a file")
	must(t, os.Remove(k.Home()), os.WriteFile(filepath.Join(k.Dir, "path"), []byte("/other"), 0o600))
	refused(t, "another project", k.Create(), fault.Refused, `belongs to the project "/other"`)

	w = newWorld(t)
	must(t, os.WriteFile(w.Root, nil, 0o600))
	refused(t, "~/.aibox is a file", w.Kept(w.project).Create(), fault.Refused, "must be a folder of its own, but is a file")
}

func TestCreateFollowsALinkAtRoot(t *testing.T) {
	w := newWorld(t)
	disk := t.TempDir()
	must(t, os.Symlink(disk, w.Root))
	w.kept(t)
	if _, err := os.Stat(filepath.Join(disk, "projects")); err != nil {
		t.Error(err)
	}
}

func TestNewPlaceRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for home, want := range map[string]string{
		"": "HOME is not set", "rel": "not an absolute path", file: "not a folder", file + "x": "no such file",
	} {
		_, err := NewPlace(home)
		refused(t, home, err, fault.Machine, want)
	}
}

// Check tells what Create would, and changes nothing.
func TestCheck(t *testing.T) {
	for name, prepare := range map[string]func(w world){
		"nothing there":  func(world) {},
		"a file":         func(w world) { must(t, os.WriteFile(w.Root, nil, 0o600)) },
		"a broken link":  func(w world) { must(t, os.Symlink("nowhere", w.Root)) },
		"a folder":       func(w world) { must(t, os.Mkdir(w.Root, 0o755)) },
		"a link to one":  func(w world) { must(t, os.Mkdir(w.Root+"-else", 0o700), os.Symlink(w.Root+"-else", w.Root)) },
		"read-only":      func(w world) { must(t, os.Mkdir(w.Root, 0o500)) },
		"read-only home": func(w world) { must(t, os.Chmod(w.home, 0o500)) },
	} {
		w := newWorld(t)
		t.Cleanup(func() { _ = os.Chmod(w.home, 0o700) })
		prepare(w)
		before, _ := os.Lstat(w.Root)
		checked := w.Check()
		if after, _ := os.Lstat(w.Root); (before == nil) != (after == nil) || before != nil && before.Mode() != after.Mode() {
			t.Errorf("%s: it was changed", name)
		}
		if created := w.Kept(w.project).Create(); (checked == nil) != (created == nil) || checked != nil && fault.HintOf(checked) != fault.HintOf(created) {
			t.Errorf("%s: Check says %v, Create %v", name, checked, created)
		}
	}
}
