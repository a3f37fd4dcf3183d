package project

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"aibox/internal/fault"
)

// withMounts runs the calling test where it may mount: in user and mount
// namespaces of its own. It is true in the process that has to go on.
func withMounts(t *testing.T) bool {
	t.Helper()
	if isChild() {
		return true
	}
	cmd := child(t, openDir(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	runChild(t, cmd)
	return false
}

// A full disk is told as such, and what was there stays.
func TestFullDisk(t *testing.T) {
	if !withMounts(t) {
		return
	}
	w := newWorld(t)
	must(t, os.Mkdir(w.Root, 0o700), syscall.Mount("tmpfs", w.Root, "tmpfs", 0, "size=64k,mode=700"))
	t.Cleanup(func() { _ = syscall.Unmount(w.Root, syscall.MNT_DETACH) })
	k := w.kept(t)
	filler, err := os.Create(filepath.Join(w.Root, "filler"))
	must(t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	must(t, filler.Close())
	other := w.Kept("/other")
	refused(t, "create", other.Create(), fault.Machine, "no space left on device")
	if _, err := os.Lstat(filepath.Join(other.Dir, pathName)); err == nil {
		t.Error("half a file was left behind")
	}
	if got, err := k.readPath(); err != nil || got != w.project {
		t.Errorf("what was there: %q, %v", got, err)
	}
	must(t, k.Remove(context.Background())) // makes room
}

func TestOpenRefusesBindMounts(t *testing.T) {
	if !withMounts(t) {
		return
	}
	w := newWorld(t)
	k := w.kept(t)
	mnt := t.TempDir()
	bind := func(name, from string) string {
		at := filepath.Join(mnt, name)
		must(t, os.MkdirAll(at, 0o700), syscall.Mount(from, at, "", syscall.MS_BIND|syscall.MS_REC, ""))
		t.Cleanup(func() { _ = syscall.Unmount(at, syscall.MNT_DETACH) })
		return at
	}
	home := bind("home", w.home)
	tree := bind("tree", filepath.Dir(filepath.Dir(w.home)))
	kept := bind("kept", k.Home())
	for path, want := range map[string]string{
		home:                              "is your home folder",
		tree:                              "holds your home folder",
		filepath.Join(tree, "home"):       "holds your home folder",
		filepath.Join(tree, "home", "me"): "is your home folder",
		kept:                              "lies in ~/.aibox",
		filepath.Join(home, ".aibox"):     "where aibox keeps its own files",
		filepath.Join(home, ".aibox", "projects"): "lies in ~/.aibox",
	} {
		_, err := w.OpenProject(path)
		refused(t, path, err, fault.Refused, want)
	}
	if f, err := w.OpenProject(filepath.Join(home, "src", "app")); err != nil {
		t.Errorf("the project by another way: %v", err)
	} else {
		f.Dir.Close()
	}

	// The home mounted below a project would be shared with it.
	inside := filepath.Join(w.project, "in")
	must(t, os.Mkdir(inside, 0o700), syscall.Mount(w.home, inside, "", syscall.MS_BIND, ""))
	_, err := w.OpenProject(w.project)
	refused(t, "home mounted in the project", err, fault.Refused, "has a folder mounted in it that holds your home folder")
	must(t, syscall.Unmount(inside, 0))

	// Removing does not go into what is mounted in the VM's home.
	mounted := filepath.Join(k.Home(), "mounted")
	must(t, os.Mkdir(mounted, 0o700), syscall.Mount(w.project, mounted, "", syscall.MS_BIND, ""))
	must(t, os.WriteFile(filepath.Join(w.project, "precious"), nil, 0o600))
	refused(t, "remove", k.Remove(context.Background()), fault.Refused, "something is mounted at")
	refused(t, "reset", k.Reset(context.Background(), false), fault.Refused, "something is mounted at")
	if _, err := os.Stat(filepath.Join(w.project, "precious")); err != nil {
		t.Error(err)
	}
	must(t, syscall.Unmount(mounted, 0), k.Remove(context.Background()))
}

// Neither command empties what somebody mounted below what is kept, be it of the
// same file system or another one.
func TestClearingStopsAtMounts(t *testing.T) {
	if !withMounts(t) {
		return
	}
	w := newWorld(t)
	k := w.kept(t)
	docs := filepath.Join(w.home, "docs")
	at := filepath.Join(k.Home(), "deep", "mounted")
	must(t, os.Mkdir(docs, 0o700), os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(docs, "precious"), nil, 0o600))
	for kind, mount := range map[string]func() error{
		"the same file system": func() error { return syscall.Mount(docs, at, "", syscall.MS_BIND, "") },
		"another one":          func() error { return syscall.Mount("tmpfs", at, "tmpfs", 0, "size=64k") },
	} {
		must(t, mount())
		must(t, os.WriteFile(filepath.Join(at, "precious"), nil, 0o600))
		refused(t, kind+", reset", k.Reset(context.Background(), false), fault.Refused, "mounted")
		refused(t, kind+", remove", k.Remove(context.Background()), fault.Refused, "mounted")
		if _, err := os.Stat(filepath.Join(at, "precious")); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		must(t, syscall.Unmount(at, 0))
	}
	must(t, k.Reset(context.Background(), false))
	if _, err := os.Stat(filepath.Join(docs, "precious")); err != nil {
		t.Error(err)
	}
}
