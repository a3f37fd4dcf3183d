package project

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"aibox/internal/fault"
)

// Bind mounts need a mount namespace of our own, which the test gets by
// running itself in a user namespace.
func TestOpenRefusesBindMounts(t *testing.T) {
	if !isChild() {
		cmd := child(t, openDir(t))
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		}
		runChild(t, cmd)
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
