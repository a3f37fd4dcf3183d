//go:build unix

package project

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/fault"
)

func TestOpenRefusesWhatIsNotTheUsers(t *testing.T) {
	if !asUser(t) {
		return
	}
	w := newWorld(t)
	_, err := w.OpenProject("/usr")
	refused(t, "root's folder", err, fault.Refused, "belongs to another user (uid 0)")
	if f, err := w.OpenMount("/usr/share"); err != nil {
		t.Errorf("a mount of root's folder: %v", err)
	} else {
		f.Dir.Close()
	}
	must(t, os.Chmod(w.project, 0o500))
	_, err = w.OpenProject(w.project)
	refused(t, "read-only", err, fault.Refused, "is not writable for you: permission denied")
	must(t, os.Chmod(w.project, 0o300))
	_, err = w.OpenProject(w.project)
	refused(t, "unreadable", err, fault.Refused, "cannot be opened: permission denied")
	must(t, os.Chmod(w.project, 0o700))
}

func TestCreateSaysWhyItCannot(t *testing.T) {
	if !asUser(t) {
		return
	}
	w := newWorld(t)
	must(t, os.Chmod(w.home, 0o500))
	refused(t, "read-only home", w.Kept(w.project).Create(), fault.Machine, "cannot make the folder")
	must(t, os.Chmod(w.home, 0o700))
	if os.Geteuid() != 0 {
		w.Root = "/root-owned"
		p := Place{Root: "/usr"}
		refused(t, "another user's ~/.aibox", p.Kept("/x").Create(), fault.Refused, "belongs to another user (uid 0)")
	}
}

// A home that the VM filled: read-only and unreadable folders, links out,
// files of all kinds.
func TestRemoveWhatTheVMLeft(t *testing.T) {
	if !asUser(t) {
		return
	}
	w := newWorld(t)
	k := w.kept(t)
	outside := filepath.Join(w.home, "outside")
	must(t,
		os.Mkdir(outside, 0o755), os.WriteFile(filepath.Join(outside, "keep"), []byte("k"), 0o644),
		os.MkdirAll(filepath.Join(k.Home(), "ro", "deeper"), 0o700),
		os.WriteFile(filepath.Join(k.Home(), "ro", "deeper", "f"), nil, 0o400),
		os.Symlink(outside, filepath.Join(k.Home(), "out")),
		os.Symlink("../../../../..", filepath.Join(k.Home(), "up")),
		os.Symlink("/", filepath.Join(k.Home(), "ro", "root")),
		os.Mkdir(filepath.Join(k.Home(), "closed"), 0o700),
		os.WriteFile(filepath.Join(k.Home(), "closed", "f"), nil, 0o000),
		os.WriteFile(filepath.Join(k.Home(), "a\nb\xff"), nil, 0o000),
		os.Chmod(filepath.Join(k.Home(), "closed"), 0o000),
		os.Chmod(filepath.Join(k.Home(), "ro", "deeper"), 0o500),
		os.Chmod(filepath.Join(k.Home(), "ro"), 0o500),
	)
	if err := k.Remove(context.Background()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(k.Dir)); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "keep")); err != nil || string(text) != "k" {
		t.Errorf("a link was followed: %v", err)
	}
	if info, err := os.Stat(outside); err != nil || !strings.HasSuffix(info.Mode().String(), "rwxr-xr-x") {
		t.Errorf("rights outside were changed: %v, %v", info.Mode(), err)
	}
}
