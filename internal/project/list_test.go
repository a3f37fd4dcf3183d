package project

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/project/treesize"
)

func TestList(t *testing.T) {
	w := newWorld(t)
	if list, err := w.List(context.Background()); err != nil || list != nil {
		t.Errorf("an empty place lists %v, %v", list, err)
	}
	k := w.kept(t)
	gone := w.Kept(filepath.Join(w.home, "gone"))
	must(t, gone.Create(), os.WriteFile(filepath.Join(gone.Home(), "data"), make([]byte, 1<<20), 0o600))
	lost := w.Kept("/lost")
	must(t, lost.Create(), os.Remove(filepath.Join(lost.Dir, pathName)))
	must(t, os.Mkdir(filepath.Join(w.Root, projectsName, ".removing-0"), 0o700))
	lock, err := k.LockRun()
	must(t, err)
	defer lock.Release()

	list, err := w.List(context.Background())
	must(t, err)
	if len(list) != 3 {
		t.Fatalf("%d projects, want 3: %v", len(list), list)
	}
	byPath := map[string]Entry{}
	for _, e := range list {
		byPath[e.Kept.Project] = e
	}
	if e := byPath[w.project]; !e.Running || e.PID != os.Getpid() || e.Gone || time.Since(e.LastRun) > time.Minute {
		t.Errorf("running project: %+v", e)
	}
	if e := byPath[gone.Project]; e.Running || !e.Gone || !e.LastRun.IsZero() || e.Size < 1<<20 || e.Partial {
		t.Errorf("moved project: %+v", e)
	}
	if _, ok := byPath[lost.Dir]; !ok {
		t.Errorf("the project without a path is not listed: %v", byPath)
	}
}

func TestFind(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	link := filepath.Join(w.home, "link")
	must(t, os.Symlink(w.project, link))
	for _, path := range []string{w.project, link, w.project + "/../app/", k.Dir} {
		if got, ok := w.Find(path); !ok || got.Dir != k.Dir {
			t.Errorf("Find(%q) = %q, %v", path, got.Dir, ok)
		}
	}
	must(t, os.RemoveAll(w.project))
	if got, ok := w.Find(w.project); !ok || got.Dir != k.Dir {
		t.Errorf("deleted project: %q, %v", got.Dir, ok)
	}
	for _, path := range []string{w.home, filepath.Dir(k.Dir), filepath.Join(k.Dir, "home"), "/"} {
		if got, ok := w.Find(path); ok {
			t.Errorf("Find(%q) = %q", path, got.Dir)
		}
	}
}

func TestDiskUseStaysInTheTree(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	before, _, err := treesize.Of(context.Background(), k.Dir, time.Hour)
	must(t, err)
	must(t, os.Symlink("/usr", filepath.Join(k.Home(), "usr")), os.Symlink("..", filepath.Join(k.Home(), "up")))
	deep(t, k.Home(), 300)
	after, partial, err := treesize.Of(context.Background(), k.Dir, time.Hour)
	if err != nil || !partial || after > before+4<<20 {
		t.Errorf("size grew from %d to %d, partial %v, %v", before, after, partial, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := treesize.Of(ctx, k.Dir, time.Hour); err == nil {
		t.Error("a cancelled context was ignored")
	}
	if took, partial, err := treesize.Of(context.Background(), k.Dir, 0); err != nil || !partial || took >= after {
		t.Errorf("without time: size %d, partial %v, %v", took, partial, err)
	}
}

// deep makes folders one in the other.
func deep(t *testing.T, dir string, levels int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	for range levels {
		must(t, root.Mkdir("d", 0o700), writeIn(root, "f"))
		next, err := root.OpenRoot("d")
		must(t, err, root.Close())
		root = next
	}
	must(t, root.Close())
}

func writeIn(root *os.Root, name string) error {
	return root.WriteFile(name, []byte(strings.Repeat("x", 10)), 0o400)
}
