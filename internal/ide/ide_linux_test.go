package ide

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// scene is a home with a project at src/app, also reached by a link.
type scene struct {
	t             *testing.T
	home, project string
}

func newScene(t *testing.T) scene {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home = filepath.Join(home, "me [home]*") // no pattern
	s := scene{t, home, filepath.Join(home, "src", "app")}
	for _, dir := range []string{s.project, filepath.Join(home, lockFolder), filepath.Join(home, "other")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("src", filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	return s
}

// lock writes a lock file that is age old.
func (s scene) lock(port int, age time.Duration, l lock) {
	s.t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		s.t.Fatal(err)
	}
	s.file(fmt.Sprintf("%d.lock", port), age, text)
}

func (s scene) file(name string, age time.Duration, text []byte) {
	s.t.Helper()
	path := filepath.Join(s.home, lockFolder, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	when := time.Now().Add(-age)
	if err := os.Chtimes(path, when, when); err != nil {
		s.t.Fatal(err)
	}
}

func (s scene) good(folders ...string) lock {
	for i := range folders {
		folders[i] = filepath.Join(s.home, folders[i])
	}
	return lock{PID: os.Getpid(), Folders: folders, Name: "Editor", Kind: "ws", Token: "t"}
}

func TestFind(t *testing.T) {
	s := newScene(t)
	if got, ok := Find(s.home, s.project); ok {
		t.Errorf("found %+v without a lock file", got)
	}
	s.lock(4001, time.Hour, s.good("other"))
	s.lock(4002, time.Hour, s.good("src/app/below"))
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for port, change := range map[int]func(*lock){
		4010: func(l *lock) { l.PID = dead.Process.Pid },
		4011: func(l *lock) { l.PID = 0 },
		4012: func(l *lock) { l.PID = -1 },
		4013: func(l *lock) { l.Kind = "sse" },
		4014: func(l *lock) { l.Token = "" },
		4015: func(l *lock) { l.Folders = []string{"src/app", "", "/nonexistent"} },
	} {
		l := s.good("src/app")
		change(&l)
		s.lock(port, 0, l)
	}
	s.file("0.lock", 0, []byte("{}"))
	s.file("70000.lock", 0, []byte("{}"))
	s.file("x.lock", 0, []byte("{}"))
	s.file("4020.lock", 0, []byte("broken"))
	s.file("4021.lock", 0, make([]byte, maxFile+1))
	if got, ok := Find(s.home, s.project); ok {
		t.Errorf("found %+v", got)
	}
	for _, c := range []struct {
		port int
		age  time.Duration
		l    lock
		want IDE
	}{
		{5001, 50, s.good("src"), IDE{"Editor", 5001, "t", s.project}},
		{5002, 60, s.good("other", "src/app"), IDE{"Editor", 5002, "t", s.project}}, // nearer
		{5003, 70, s.good("src/app"), IDE{"Editor", 5002, "t", s.project}},          // older
		{5004, 10, s.good("link/app/"), IDE{"Editor", 5004, "t", filepath.Join(s.home, "link/app")}},
	} {
		s.lock(c.port, c.age*time.Minute, c.l)
		if got, ok := Find(s.home, s.project); !ok || got != c.want {
			t.Errorf("after %d: %+v, %v, want %+v", c.port, got, ok, c.want)
		}
	}
}

func TestNoLinks(t *testing.T) {
	s := newScene(t)
	for link, target := range map[string]string{"out": "/etc", "in": "real", "broken": "/nonexistent", "real/file": "/etc/passwd"} {
		if err := os.MkdirAll(filepath.Join(s.project, "real"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(s.project, link)); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.Open(s.project)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	check := NoLinks(dir)
	for rel, want := range map[string]bool{
		".": true, "real": true, "real/new": true, "new/new": true,
		"out": false, "out/passwd": false, "in": false, "in/x": false, "broken": false, "broken/x": false, "real/file": false, "real/file/x": false,
	} {
		if err := check(rel); (err == nil) != want {
			t.Errorf("%s: %v", rel, err)
		}
	}
}

func TestLockFile(t *testing.T) {
	got, err := LockFile(IDE{Name: "Editor", Port: 5000, Token: "of the host", Root: "/src"}, "of the VM")
	want := `{"workspaceFolders":["/project"],"ideName":"Editor","transport":"ws","authToken":"of the VM"}`
	if err != nil || string(got) != want || LockPath() != ".claude/ide/3131.lock" {
		t.Errorf("%s: %s, %v", LockPath(), got, err)
	}
}
