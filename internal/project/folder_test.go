package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/fault"
)

func TestOpenProject(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.home, "link")
	must(t, os.Symlink("src/app", link))
	odd := filepath.Join(w.home, "ä b\n:,='\"$")
	must(t, os.Mkdir(odd, 0o700))
	for path, want := range map[string]string{
		w.project:                             w.project,
		link:                                  w.project,
		w.project + "/../../src//app/.":       w.project,
		odd:                                   odd,
		filepath.Join(w.home, "src"):          filepath.Join(w.home, "src"),
		filepath.Join(w.home, "../me/src/./"): filepath.Join(w.home, "src"),
	} {
		f, err := w.OpenProject(path)
		if err != nil {
			t.Errorf("OpenProject(%q): %v", path, err)
			continue
		}
		opened, err := f.Dir.Stat()
		there, err2 := os.Stat(want)
		if f.Path != want || err != nil || err2 != nil || !os.SameFile(opened, there) {
			t.Errorf("OpenProject(%q) = %q, want %q", path, f.Path, want)
		}
		f.Dir.Close()
	}
}

func TestOpenRefusesByIdentity(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	links := t.TempDir()
	link := func(name, target string) string {
		at := filepath.Join(links, name)
		must(t, os.Symlink(target, at))
		return at
	}
	for path, want := range map[string]string{
		w.home:                            "is your home folder",
		w.home + "/":                      "is your home folder",
		w.home + "/src/..":                "is your home folder",
		w.project + "/../..":              "is your home folder",
		"/proc/self/root" + w.home:        "is your home folder",
		filepath.Dir(w.home):              "holds your home folder",
		"/":                               "holds your home folder",
		link("home", w.home):              "is your home folder",
		link("up", w.project+"/../../.."): "holds your home folder",
		link("chain", filepath.Join(links, "home")): "is your home folder",
		w.Root:                 "is where aibox keeps its own files",
		k.Dir:                  "lies in ~/.aibox",
		k.Home():               "lies in ~/.aibox",
		link("kept", k.Home()): "lies in ~/.aibox",
	} {
		_, err := w.OpenProject(path)
		refused(t, "project "+path, err, fault.Refused, want)
		_, err = w.OpenMount(path)
		refused(t, "mount "+path, err, fault.Refused, want)
	}
}

// ~/.aibox may be a link to another disk; what lies above it there is refused too.
func TestOpenRefusesAboveALinkedRoot(t *testing.T) {
	w := newWorld(t)
	disk, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err, os.Mkdir(filepath.Join(disk, "aibox"), 0o700), os.Symlink(filepath.Join(disk, "aibox"), w.Root))
	k := w.kept(t)
	_, err = w.OpenProject(disk)
	refused(t, "above", err, fault.Refused, "holds ~/.aibox")
	_, err = w.OpenProject(filepath.Join(disk, "aibox", "projects", filepath.Base(k.Dir)))
	refused(t, "inside", err, fault.Refused, "lies in ~/.aibox")
}

// HOME can be set to anything; the home that the system knows is refused as well.
func TestOpenRefusesTheOtherHome(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t)
	w.homes = append(w.homes, other.home)
	_, err := w.OpenProject(other.home)
	refused(t, "home of the system", err, fault.Refused, "is your home folder")
}

func TestOpenRefusesWhatIsNoFolder(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.project, "file")
	must(t, os.WriteFile(file, nil, 0o600), os.Symlink("loop", filepath.Join(w.project, "loop")))
	for path, want := range map[string]string{
		file:                 "is not a folder",
		"/dev/null":          "is not a folder",
		w.project + "/none":  "does not exist",
		w.project + "/loop":  "too many levels",
		w.project + "/a\x00": "invalid argument",
		w.project + "/" + strings.Repeat("x", 300):  "is too long: it has",
		w.project + strings.Repeat("/xxxxxxx", 700): "is too long: it has",
	} {
		_, err := w.OpenProject(path)
		if err == nil || !strings.Contains(err.Error(), want) || fault.KindOf(err) != fault.Refused {
			t.Errorf("OpenProject(%q) = %v, want %q", path, err, want)
		}
	}
}

func TestMountTable(t *testing.T) {
	table := parseMounts(`22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 8:2 / /home rw - ext4 /dev/sda2 rw
31 22 8:2 /me/.aibox /mnt/a\040b rw shared:1 - ext4 /dev/sda2 rw
32 22 8:2 / /mnt/whole rw - ext4 /dev/sda2 rw
33 22 8:3 / /mnt/hidden rw - ext4 /dev/sdb rw
34 22 8:2 /me /mnt/hidden rw - ext4 /dev/sda2 rw
35 22 8:2 /me/src /data/app/in rw - ext4 /dev/sda2 rw
36 22 8:2 / /data/bad/in rw - ext4 /dev/sda2 rw
broken
`)
	p := Place{Root: "/home/me/.aibox", homes: []string{"/home/me"}}
	for path, want := range map[string]string{
		"/home/me/src":        "",
		"/home/other":         "",
		"/mnt/a b":            "holds ~/.aibox",
		"/mnt/a b/projects/x": "lies in ~/.aibox",
		"/mnt/whole":          "holds your home folder",
		"/mnt/whole/me":       "holds your home folder",
		"/mnt/whole/me/src":   "",
		"/mnt/whole/other":    "",
		"/mnt/hidden":         "holds your home folder",
		"/data/app":           "",
		"/data/bad":           "has a folder mounted in it that holds your home folder",
		"/srv":                "",
	} {
		if got := p.forbiddenByMounts(path, table); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := (Place{Root: "/x/.aibox", homes: []string{"/x"}}).forbiddenByMounts("/x", nil); got != "" {
		t.Errorf("an empty table refuses: %q", got)
	}
}
