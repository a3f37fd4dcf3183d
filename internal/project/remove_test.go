package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"aibox/internal/fault"
)

// login puts a login and much else into the VM's home.
func (w world) login(t *testing.T, k Kept) {
	t.Helper()
	dir := filepath.Join(k.Home(), ".claude", "projects")
	must(t, os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(k.Home(), ".claude", ".credentials.json"), []byte("login"), 0o600),
		os.WriteFile(filepath.Join(k.Home(), ".claude", "settings.json"), []byte("{}"), 0o600),
		os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte("h"), 0o600),
		os.WriteFile(k.Config(), []byte("cpus: 3\n"), 0o600),
		os.WriteFile(k.ConsoleLog(), []byte("log"), 0o600),
		os.WriteFile(filepath.Join(k.Tasks(), "t"), nil, 0o600),
		os.WriteFile(k.StateDisk(), []byte("disk"), 0o600))
}

// files lists all plain files below dir.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			found = append(found, rel)
		}
		return err
	}))
	return found
}

func TestReset(t *testing.T) {
	for _, logout := range []bool{false, true} {
		w := newWorld(t)
		k := w.kept(t)
		w.login(t, k)
		must(t, k.Reset(context.Background(), logout))
		want := []string{"config.yaml", "console.log", "home/.claude/.credentials.json", "path", "tasks/t", "tasks.lock"}
		if logout {
			want = slices.DeleteFunc(want, func(s string) bool { return s == "home/.claude/.credentials.json" })
		}
		if got := files(t, k.Dir); !slices.Equal(got, want) {
			t.Errorf("logout %v: left %q, want %q", logout, got, want)
		}
		if info, err := os.Lstat(k.Home()); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("home: %v, %v", info, err)
		}
		must(t, k.Reset(context.Background(), logout)) // and again
	}
}

// A reset is no run.
func TestResetLeavesTheLastRun(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	must(t, k.Reset(context.Background(), false))
	if at := k.lastRun(); !at.IsZero() {
		t.Errorf("a project that never ran did at %v", at)
	}
	lock, err := k.LockRun()
	must(t, err)
	lock.Release()
	before := time.Now().Add(-time.Hour).Truncate(time.Second)
	must(t, os.Chtimes(filepath.Join(k.Dir, runLockName), before, before), k.Reset(context.Background(), false))
	if at := k.lastRun(); !at.Equal(before) {
		t.Errorf("the last run was at %v, want %v", at, before)
	}
	task, err := k.LockTask()
	must(t, err)
	refused(t, "reset", k.Reset(context.Background(), false), fault.Refused, "a task of")
	task.Release()
	if at := k.lastRun(); !at.Equal(before) {
		t.Errorf("after a reset that was refused the last run was at %v, want %v", at, before)
	}
}

// The VM puts links where the login would be.
func TestResetFollowsNoLink(t *testing.T) {
	w := newWorld(t)
	secret := filepath.Join(w.home, "secret")
	must(t, os.Mkdir(secret, 0o700), os.WriteFile(filepath.Join(secret, ".credentials.json"), []byte("host"), 0o600))
	for name, plant := range map[string]func(k Kept) error{
		"file is a link": func(k Kept) error {
			return errors.Join(os.Mkdir(k.Home()+"/.claude", 0o700), os.Symlink(secret+"/.credentials.json", k.Home()+"/.claude/.credentials.json"))
		},
		"folder is a link": func(k Kept) error { return os.Symlink(secret, k.Home()+"/.claude") },
		"link inside": func(k Kept) error {
			return errors.Join(os.WriteFile(k.Dir+"/tasks/.credentials.json", []byte("t"), 0o600), os.Symlink("../tasks", k.Home()+"/.claude"))
		},
		"file is a folder": func(k Kept) error { return os.MkdirAll(k.Home()+"/.claude/.credentials.json/x", 0o700) },
		"huge": func(k Kept) error {
			return errors.Join(os.Mkdir(k.Home()+"/.claude", 0o700), os.WriteFile(k.Home()+"/.claude/.credentials.json", make([]byte, maxLogin+1), 0o600))
		},
	} {
		k := w.kept(t)
		must(t, plant(k), k.Reset(context.Background(), false))
		if got := files(t, k.Home()); len(got) != 0 {
			t.Errorf("%s: the new home holds %q", name, got)
		}
		must(t, k.Remove(context.Background()))
	}
	if text, err := os.ReadFile(filepath.Join(secret, ".credentials.json")); err != nil || string(text) != "host" {
		t.Errorf("the host's file: %q, %v", text, err)
	}
}

func TestRemoveDeepAndWideTrees(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	deep(t, k.Home(), 3000) // far longer than a path may be
	for i := range 3 * 1024 {
		must(t, os.WriteFile(filepath.Join(k.Home(), fmt.Sprint(i)), nil, 0o600))
	}
	must(t, k.Remove(context.Background()))
	if left, err := os.ReadDir(filepath.Dir(k.Dir)); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(w.project); err != nil {
		t.Errorf("the project itself: %v", err)
	}
}

// What a crash left is removed by the next removal, also where names collide.
func TestRemoveAfterACrash(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	other := w.Kept("/other")
	must(t, other.Create())
	projects := filepath.Dir(k.Dir)
	must(t, os.MkdirAll(filepath.Join(projects, ".removing-0", "x"), 0o700), os.MkdirAll(filepath.Join(projects, ".removing-1.1", "x"), 0o700))
	deep(t, k.Home(), 2*64)
	must(t, k.Remove(context.Background()))
	left, err := os.ReadDir(projects)
	if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(other.Dir) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRemoveStopsWhenCancelled(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.Remove(ctx); err == nil {
		t.Error("a cancelled context was ignored")
	}
	must(t, w.Kept(w.project).Create())
}
