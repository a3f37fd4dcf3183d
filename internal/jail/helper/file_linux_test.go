package helper

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// home is a folder that a virtual machine could write, beside files of the
// user's that it must not reach.
type home struct {
	dir, outside string
	folder       *os.File
}

func newHome(t *testing.T) home {
	t.Helper()
	base := t.TempDir()
	h := home{dir: filepath.Join(base, "home"), outside: filepath.Join(base, "outside")}
	for _, dir := range []string{h.dir, h.outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"secret", "settings.json"} {
		if err := os.WriteFile(filepath.Join(h.outside, name), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.folder = openDir(t, h.dir)
	return h
}

// untouched says whether the user's files are as they were.
func (h home) untouched(t *testing.T) bool {
	t.Helper()
	entries, err := os.ReadDir(h.outside)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secret", "settings.json"} {
		if b, err := os.ReadFile(filepath.Join(h.outside, name)); err != nil || string(b) != "secret" {
			return false
		}
	}
	return len(entries) == 2
}

// within is false when f did not return in time, as when a FIFO holds it. It
// is let go by opening the FIFO's other end.
func within(f func(), fifo string, flags int) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-time.After(300 * time.Millisecond):
	}
	if fd, err := unix.Open(fifo, flags|unix.O_NONBLOCK, 0); err == nil {
		unix.Close(fd) // what it opened is at its end now
	}
	<-done
	return false
}

// trap is something planted in the home, at or on the way to .claude/settings.json.
type trap struct {
	name  string
	plant func(h home) error
	root  bool // only root can plant it
	// putFails says that PutFile must be an error; else the trap is replaced.
	putFails bool
}

const target = ".claude/settings.json"

func traps() []trap {
	claude := func(h home) string { return filepath.Join(h.dir, ".claude") }
	inClaude := func(plant func(h home, path string) error) func(home) error {
		return func(h home) error {
			return errors.Join(os.Mkdir(claude(h), 0o700), plant(h, filepath.Join(h.dir, target)))
		}
	}
	return []trap{
		{"symlink", inClaude(func(h home, p string) error { return os.Symlink(h.outside+"/secret", p) }), false, false},
		{"relative symlink", inClaude(func(_ home, p string) error { return os.Symlink("../../outside/secret", p) }), false, false},
		{"dangling symlink", inClaude(func(h home, p string) error { return os.Symlink(h.outside+"/new", p) }), false, false},
		{"hard link", inClaude(func(h home, p string) error { return os.Link(h.outside+"/secret", p) }), false, false},
		{"folder symlink", func(h home) error { return os.Symlink(h.outside, claude(h)) }, false, true},
		{"folder by /proc", func(h home) error { return os.Symlink("/proc/self/root"+h.outside, claude(h)) }, false, true},
		{"FIFO", inClaude(func(_ home, p string) error { return unix.Mkfifo(p, 0o600) }), false, false},
		{"device", inClaude(func(_ home, p string) error { return unix.Mknod(p, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) }), true, false},
		{"folder in its place", inClaude(func(_ home, p string) error { return os.Mkdir(p, 0o700) }), false, true},
		{"file for a folder", func(h home) error { return os.WriteFile(claude(h), nil, 0o600) }, false, true},
	}
}

// TestTraps: the naive way falls into each trap that leads somewhere, the
// helpers into none.
func TestTraps(t *testing.T) {
	needJail(t)
	// What the naive way does in each trap, so that the traps are known to work.
	naive := map[string][2]string{
		"symlink": {"wrote outside", "read outside"}, "relative symlink": {"wrote outside", "read outside"},
		"dangling symlink": {"wrote outside", "failed"}, "hard link": {"wrote outside", "read outside"},
		"folder symlink": {"wrote outside", "read outside"}, "folder by /proc": {"wrote outside", "read outside"},
		"FIFO": {"hung", "hung"}, "device": {"wrote a device", "read a device"},
		"folder in its place": {"failed", "failed"}, "file for a folder": {"failed", "failed"},
	}
	for _, trap := range traps() {
		t.Run(trap.name, func(t *testing.T) {
			if trap.root && os.Getuid() != 0 {
				t.Skipf("only root plants it: found user %d, want 0", os.Getuid())
			}
			h := newHome(t)
			if err := trap.plant(h); err != nil {
				t.Fatal(err)
			}
			if got := naiveRead(h); got != naive[trap.name][1] {
				t.Errorf("the naive way to read %s, want it %s", got, naive[trap.name][1])
			}
			if got := naiveWrite(t, h); got != naive[trap.name][0] {
				t.Errorf("the naive way to write %s, want it %s", got, naive[trap.name][0])
			}

			h = newHome(t)
			if err := trap.plant(h); err != nil {
				t.Fatal(err)
			}
			if b, err := ReadFile(deadline(t), h.folder, target, 1000, false); err == nil {
				t.Errorf("ReadFile = %q, want an error", b)
			}
			err := PutFile(deadline(t), h.folder, File{target, 0o640, []byte("new")}, false)
			if (err != nil) != trap.putFails {
				t.Errorf("PutFile: %v, want an error: %v", err, trap.putFails)
			}
			if !h.untouched(t) {
				t.Error("PutFile changed the user's files")
			}
			if err == nil {
				h.wantFile(t, "new", 0o640)
			}
		})
	}
}

func naiveRead(h home) string {
	var b []byte
	var err error
	path := filepath.Join(h.dir, target)
	if !within(func() {
		f, openErr := os.Open(path)
		if err = openErr; err == nil {
			defer f.Close()
			b = make([]byte, 6)
			_, err = f.Read(b)
		}
	}, path, unix.O_WRONLY) {
		return "hung"
	}
	switch {
	case err != nil:
		return "failed"
	case string(b) == "\x00\x00\x00\x00\x00\x00":
		return "read a device"
	}
	return "read outside"
}

func naiveWrite(t *testing.T, h home) string {
	t.Helper()
	var err error
	path := filepath.Join(h.dir, target)
	if !within(func() { err = os.WriteFile(path, []byte("new"), 0o600) }, path, unix.O_RDONLY) {
		return "hung"
	}
	info, statErr := os.Lstat(path)
	switch {
	case err != nil:
		return "failed"
	case !h.untouched(t):
		return "wrote outside"
	case statErr == nil && info.Mode()&fs.ModeDevice != 0:
		return "wrote a device"
	}
	return "wrote inside"
}

func (h home) wantFile(t *testing.T, data string, mode fs.FileMode) {
	t.Helper()
	path := filepath.Join(h.dir, target)
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != mode {
		t.Fatalf("%v, %v, want a plain file of mode %v", info, err, mode)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != data {
		t.Errorf("file holds %q, %v, want %q", b, err, data)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files beside each other, %v, want 1", len(entries), err)
	}
}

func TestPutAndRead(t *testing.T) {
	needJail(t)
	h := newHome(t)
	for _, data := range []string{"one", strings.Repeat("x", MaxFile), ""} {
		if err := PutFile(deadline(t), h.folder, File{target, 0o600, []byte(data)}, false); err != nil {
			t.Fatal(err)
		}
		h.wantFile(t, data, 0o600)
		b, err := ReadFile(deadline(t), h.folder, target, MaxFile, false)
		if err != nil || string(b) != data {
			t.Errorf("ReadFile = %d bytes, %v, want %d", len(b), err, len(data))
		}
	}
	if err := PutFile(deadline(t), h.folder, File{target, 0o600, []byte("123456")}, false); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(deadline(t), h.folder, target, 5, false); err == nil {
		t.Errorf("ReadFile over its limit = %q", b)
	}
	if _, err := ReadFile(deadline(t), h.folder, ".claude/none", 5, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of a missing file: %v", err)
	}
	if _, err := ReadFile(deadline(t), h.folder, "none/none", 5, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile in a missing folder: %v", err)
	}
	if err := PutFile(deadline(t), h.folder, File{target, 0o600, make([]byte, MaxFile+1)}, false); err == nil {
		t.Error("PutFile wrote more than its limit")
	}
	for _, bad := range []string{"../outside/new", "/etc/x", ".claude/../../outside/new", ""} {
		if err := PutFile(deadline(t), h.folder, File{bad, 0o600, nil}, false); err == nil {
			t.Errorf("PutFile(%q) worked", bad)
		}
		if _, err := ReadFile(deadline(t), h.folder, bad, 5, false); err == nil {
			t.Errorf("ReadFile(%q) worked", bad)
		}
	}
	if !h.untouched(t) {
		t.Error("the user's files changed")
	}
}
