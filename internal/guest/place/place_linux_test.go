package place

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBelow(t *testing.T) {
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
		f, err := Below(home, name, os.Getuid(), os.Getgid(), false)
		if (err == nil) != (want != "") {
			t.Errorf("Below(%s): %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		got, _ := f.Stat()
		wanted, err := os.Stat(filepath.Join(dir, want))
		if err != nil || !os.SameFile(got, wanted) {
			t.Errorf("Below(%s) is not %s: %v", name, want, err)
		}
		f.Close()
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("something was made outside: %v", left)
	}
}

// What an earlier session left at a mount's place, or on the way to it, moves
// aside, and nothing is lost.
func TestMovesAside(t *testing.T) {
	outside := t.TempDir()
	for _, name := range []string{"docs", "docs/deep", "link", "link/deep", "dangling", "loop/x", "real/file/x"} {
		dir := t.TempDir()
		for link, target := range map[string]string{"link": outside, "dangling": "nowhere", "loop": "loop"} {
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		for _, folder := range []string{"real", "docs.replaced"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range []string{"docs", "real/file"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("kept"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		home, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Below(home, name, os.Getuid(), os.Getgid(), true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, _ := f.Stat()
		if want, err := os.Lstat(filepath.Join(dir, name)); err != nil || !want.IsDir() || !os.SameFile(got, want) {
			t.Errorf("%s is no folder of the home: %v", name, err)
		}
		f.Close()
		home.Close()
		if text, err := os.ReadFile(filepath.Join(dir, "docs.replaced.1")); name[:4] == "docs" && (err != nil || string(text) != "kept") {
			t.Errorf("%s: the file is lost: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("something was made outside: %v", left)
	}
}
