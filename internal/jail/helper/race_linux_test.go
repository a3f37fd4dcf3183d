package helper

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// raceRounds bounds each race; the naive way loses long before.
const raceRounds = 200_000

// swap exchanges two names as fast as it can until the returned function is
// called: a virtual machine that waits for its moment.
func swap(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-quit:
				return
			default:
				if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
					t.Errorf("swap: %v", err)
					return
				}
			}
		}
	})
	return sync.OnceFunc(func() { close(quit); done.Wait() })
}

// race is a home in which .claude is at times a folder and at times a symlink
// out, or the same for the file in it.
func race(t *testing.T, ofFolder bool) (home, func()) {
	t.Helper()
	h := newHome(t)
	file := filepath.Join(h.dir, target)
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("inside"), 0o600)); err != nil {
		t.Fatal(err)
	}
	a, b, to := filepath.Dir(file), filepath.Join(h.dir, "link"), h.outside
	if !ofFolder {
		a, b, to = file, filepath.Join(h.dir, ".claude", "link"), filepath.Join(h.outside, "settings.json")
	}
	if err := os.Symlink(to, b); err != nil {
		t.Fatal(err)
	}
	stop := swap(t, a, b)
	t.Cleanup(stop)
	return h, stop
}

// careful looks before it opens, and loses the race.
func careful(h home, open func(path string) bool) bool {
	folder, file := filepath.Join(h.dir, ".claude"), filepath.Join(h.dir, target)
	for _, p := range []string{folder, file} {
		if info, err := os.Lstat(p); err != nil || info.Mode()&os.ModeSymlink != 0 {
			return false
		}
	}
	return open(file)
}

func TestRaces(t *testing.T) {
	needJail(t)
	for name, ofFolder := range map[string]bool{"folder": true, "file": false} {
		t.Run("naive "+name, func(t *testing.T) {
			h, stop := race(t, ofFolder)
			read, wrote := false, false
			for i := 0; i < raceRounds && !(read && wrote); i++ {
				if !read {
					read = careful(h, func(p string) bool { b, err := os.ReadFile(p); return err == nil && string(b) == "secret" })
					continue
				}
				careful(h, func(p string) bool { return os.WriteFile(p, []byte("inside"), 0o600) == nil })
				wrote = !h.untouched(t)
			}
			stop()
			if !read || !wrote {
				t.Errorf("the naive way won: it read outside: %v, it wrote outside: %v", read, wrote)
			}
		})
		t.Run("same code "+name, func(t *testing.T) {
			h, stop := race(t, ofFolder)
			defer stop()
			for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); {
				if b, err := read(h.folder, wanted{target, 100}); err == nil && string(b) != "inside" {
					t.Fatalf("read %q", b)
				}
				_ = put(h.folder, File{target, 0o600, []byte("inside")})
				if !h.untouched(t) {
					t.Fatal("the user's files changed")
				}
			}
		})
		t.Run("helper "+name, func(t *testing.T) {
			h, stop := race(t, ofFolder)
			defer stop()
			for range 4 {
				if b, err := ReadFile(deadline(t), h.folder, target, 100, false); err == nil && string(b) != "inside" {
					t.Fatalf("read %q", b)
				}
				_ = PutFile(deadline(t), h.folder, File{target, 0o600, []byte("inside")}, false)
			}
			if !h.untouched(t) {
				t.Fatal("the user's files changed")
			}
		})
	}
}

// TestSwappedHome: the name of the folder itself leads elsewhere by now; the
// handle does not.
func TestSwappedHome(t *testing.T) {
	needJail(t)
	h := newHome(t)
	moved := h.dir + "-moved"
	if err := errors.Join(os.Rename(h.dir, moved), os.Symlink(h.outside, h.dir)); err != nil {
		t.Fatal(err)
	}
	if err := PutFile(deadline(t), h.folder, File{"settings.json", 0o600, []byte("new")}, false); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(moved, "settings.json")); err != nil || string(b) != "new" || !h.untouched(t) {
		t.Errorf("file in the folder: %q, %v", b, err)
	}
}
