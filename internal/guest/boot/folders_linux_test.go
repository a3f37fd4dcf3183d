package boot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPlaceBelow(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	for link, target := range map[string]string{
		"inside": "real", "out": outside, "up": "../..", "dangling": "nowhere", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	home, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	for name, want := range map[string]string{
		"new/deep/er": "new/deep/er", "real": "real", "inside/x": "real/x",
		"out/x": "", "up/x": "", "dangling/x": "", "loop/x": "", "file": "", "file/x": "", "out": "",
	} {
		f, err := placeBelow(home, name, os.Getuid(), os.Getgid())
		if (err == nil) != (want != "") {
			t.Errorf("placeBelow(%s): %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		got, _ := f.Stat()
		wanted, err := os.Stat(filepath.Join(dir, want))
		if err != nil || !os.SameFile(got, wanted) {
			t.Errorf("placeBelow(%s) is not %s: %v", name, want, err)
		}
		f.Close()
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("something was made outside: %v", left)
	}
}

func TestTargetsAreClean(t *testing.T) {
	for _, target := range []string{"", "x", "/", "/a/../b", "/a/", "//a"} {
		if _, err := new(machine).place(target); err == nil {
			t.Errorf("place(%q) succeeded", target)
		}
	}
	for name, want := range map[string]bool{"project": true, "m0": true, "": false, "..": false, "a/b": false, "A": false} {
		if got := validShare(name); got != want {
			t.Errorf("validShare(%q) = %v", name, got)
		}
	}
}

// What must hold for any order of the boot table.
func TestTable(t *testing.T) {
	var order []string
	must := map[string]bool{}
	for _, s := range new(machine).steps() {
		if s.do == nil || s.name == "" || must[s.name] {
			t.Errorf("step %q is incomplete or doubled", s.name)
		}
		order = append(order, s.name)
		must[s.name] = s.must
	}
	for _, pair := range [][2]string{
		{"root", "kernel file systems"}, {"kernel file systems", "devices"}, {"kernel file systems", "control groups"},
		{"devices", "link"}, {"link", "boot message"}, {"loopback", "forwarders"},
		{"boot message", "clock"}, {"boot message", "host name"}, {"boot message", "time zone"}, {"boot message", "user"},
		{"boot message", "state disk"}, {"boot message", "shares"}, {"boot message", "forwarders"}, {"boot message", "session server"},
		{"state disk", "folders"}, {"shares", "folders"}, {"folders", "home"}, {"control groups", "session server"},
		{"session server", "read-only root"},
	} {
		if a, b := slices.Index(order, pair[0]), slices.Index(order, pair[1]); a < 0 || b < 0 || a >= b {
			t.Errorf("%s must come before %s", pair[0], pair[1])
		}
	}
	if last := order[len(order)-1]; last != "read-only root" {
		t.Errorf("the last step is %s", last)
	}
	for _, name := range []string{"root", "user", "folders", "read-only root", "forwarders", "session server", "control groups"} {
		if !must[name] {
			t.Errorf("step %s may fail", name)
		}
	}
}

func TestFileCapability(t *testing.T) {
	want := []byte{1, 0, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if got := fileCapability(7); !slices.Equal(got, want) {
		t.Errorf("fileCapability(7) = %x, want %x", got, want)
	}
}
