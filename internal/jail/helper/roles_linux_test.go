package helper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"aibox/internal/jail"

	"golang.org/x/sys/unix"
)

// TestMain makes the test binary its own helper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(testRoles().Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// testRoles are the real roles, and for each a twin with the real policy whose
// work is to try what a compromised helper would.
func testRoles() Roles {
	roles := Builtin()
	for _, name := range []string{rolePutFile, roleReadFile, roleGit} {
		roles["evil "+name] = Role{Prepare: func(folder *os.File, input []byte) (jail.Policy, Work, error) {
			var e evil
			if err := json.Unmarshal(input, &e); err != nil {
				return jail.Policy{}, nil, err
			}
			policy, _, err := Builtin()[name].Prepare(folder, e.Input)
			return policy, e.work, err
		}}
	}
	roles["free"] = Role{FileSize: MaxFile, Prepare: func(folder *os.File, input []byte) (jail.Policy, Work, error) {
		var e evil
		if err := json.Unmarshal(input, &e); err != nil {
			return jail.Policy{}, nil, err
		}
		return jail.Policy{}, nil, e.work(os.Stdout)
	}}
	roles["greedy"] = Role{FileSize: 1000, Prepare: func(folder *os.File, input []byte) (jail.Policy, Work, error) {
		return jail.Policy{WriteDirs: []string{FolderPath}}, func(io.Writer) error { return greedy(string(input)) }, nil
	}}
	roles["shell"] = Role{Prepare: func(_ *os.File, input []byte) (jail.Policy, Work, error) {
		var script string
		err := json.Unmarshal(input, &script)
		p := jail.Policy{WriteFiles: []string{os.DevNull}, Exec: gitPrograms("/bin/bash")}
		return p, func(io.Writer) error {
			return become("/bin/bash", []string{"bash", "-c", script}, []string{"PATH=/usr/bin:/bin"})
		}, err
	}}
	return roles
}

// evil is the input of the evil roles.
type evil struct {
	Input    json.RawMessage
	Outside  string // a folder of the user's
	Listener string
	Parent   int
}

// attempts are what no helper may do. Each works for the role "free".
func (e evil) attempts() map[string]func() error {
	return map[string]func() error{
		"read outside":   func() error { _, err := os.ReadFile(e.Outside + "/secret"); return err },
		"read passwd":    func() error { _, err := os.ReadFile("/etc/passwd"); return err },
		"write outside":  func() error { return os.WriteFile(e.Outside+"/new", nil, 0o600) },
		"remove outside": func() error { return os.Remove(e.Outside + "/old") },
		"list outside":   func() error { _, err := os.ReadDir(e.Outside); return err },
		"connect": func() error {
			c, err := net.Dial("tcp", e.Listener)
			if err == nil {
				c.Close()
			}
			return err
		},
		"send": func() error {
			c, err := net.Dial("udp", e.Listener)
			if err == nil {
				c.Close()
			}
			return err
		},
		"unix socket": func() error {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err == nil {
				unix.Close(fds[0])
				unix.Close(fds[1])
			}
			return err
		},
		"signal parent": func() error { return unix.Kill(e.Parent, 0) },
		"link in folder": func() error {
			return unix.Symlinkat("/etc", folderFD, fmt.Sprintf("link%d", time.Now().UnixNano()))
		},
		"FIFO in folder": func() error {
			return unix.Mknodat(folderFD, fmt.Sprintf("fifo%d", time.Now().UnixNano()), unix.S_IFIFO|0o600, 0)
		},
		"leave folder": func() error {
			fd, err := unix.Openat(folderFD, "..", unix.O_RDONLY, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		},
	}
}

func (e evil) work(out io.Writer) error {
	results := map[string]string{}
	for name, try := range e.attempts() {
		switch err := try(); {
		case err == nil:
			results[name] = "worked"
		case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
			results[name] = "refused"
		default:
			results[name] = err.Error()
		}
	}
	return json.NewEncoder(out).Encode(results)
}

func greedy(what string) error {
	switch strings.Trim(what, `"`) {
	case "memory":
		var keep [][]byte
		for range 1024 {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			keep = append(keep, b)
		}
		return fmt.Errorf("%d MiB were to be had", len(keep))
	case "file":
		fd, err := unix.Openat(folderFD, "big", unix.O_CREAT|unix.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		n, err := unix.Write(fd, make([]byte, 2000))
		if err == nil && n == 2000 {
			return errors.New("a file of 2000 bytes was to be had")
		}
		return nil
	case "time":
		for {
			time.Sleep(time.Hour)
		}
	}
	return fs.ErrNotExist
}

func needJail(t *testing.T) {
	t.Helper()
	if _, err := jail.Check(jail.Policy{DNS: true}); err != nil {
		t.Skipf("this kernel enforces too little: %v", err)
	}
}

func TestConfinement(t *testing.T) {
	needJail(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	try := func(role string, input any) map[string]string {
		outside, folder := t.TempDir(), openDir(t, t.TempDir())
		for _, name := range []string{"/secret", "/old"} {
			if err := os.WriteFile(outside+name, []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Run(deadline(t), Call{Role: role, Folder: folder, Input: evil{raw, outside, l.Addr().String(), os.Getpid()}})
		if role == "free" {
			err = nil // it has no policy and no work, and ends there
		}
		var results map[string]string
		if err := errors.Join(err, json.Unmarshal(out, &results)); err != nil {
			t.Fatalf("%s: %v", role, err)
		}
		return results
	}
	free := try("free", nil)
	for name := range (evil{}).attempts() {
		if free[name] != "worked" {
			t.Errorf("%s without a policy: %s", name, free[name])
		}
	}
	home := t.TempDir()
	for role, input := range map[string]any{
		"evil " + rolePutFile:  File{Path: "a"},
		"evil " + roleReadFile: wanted{"a", 1},
		"evil " + roleGit:      gitInput{User: GitUser{Git: "/usr/bin/git", Home: home}, Project: true},
	} {
		for name, got := range try(role, input) {
			if got != "refused" {
				t.Errorf("%s: %s: %s, want it refused", role, name, got)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	needJail(t)
	folder := openDir(t, t.TempDir())
	for what, want := range map[string]string{
		"memory": "helper greedy ended with",
		"time":   "deadline exceeded",
		"none":   "file does not exist",
		"file":   "",
	} {
		t.Run(what, func(t *testing.T) {
			limit := 2 * time.Second
			if what != "time" {
				limit = time.Minute
			}
			_, err := Run(deadline(t), Call{Role: "greedy", Input: what, Folder: folder, Time: limit})
			if want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
			if missing := errors.Is(err, fs.ErrNotExist); missing != (what == "none") {
				t.Errorf("%v is ErrNotExist: %v", err, missing)
			}
		})
	}
}

// TestNothingIsLeftBehind has a program go on in the background with the
// helper's output, which would hold up whoever waits for the answer's end.
func TestNothingIsLeftBehind(t *testing.T) {
	needJail(t)
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skipf("found no bash: %v", err)
	}
	for _, script := range []string{"sleep 60 & echo done", "set -m; sleep 60 & echo done"} {
		out, err := Run(deadline(t), Call{Role: "shell", Input: script, Time: 20 * time.Second})
		if err != nil || string(out) != "done\n" {
			t.Errorf("%s: %q, %v", script, out, err)
		}
	}
}

func TestUnknownRole(t *testing.T) {
	if _, err := Run(deadline(t), Call{Role: "nonsense"}); err == nil || !strings.Contains(err.Error(), `no helper role "nonsense"`) {
		t.Errorf("error %v", err)
	}
}

func openDir(t *testing.T, path string) *os.File {
	t.Helper()
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func BenchmarkHelper(b *testing.B) {
	dir, err := os.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer dir.Close()
	for b.Loop() {
		if err := PutFile(b.Context(), dir, File{"a/b", 0o600, []byte("x")}, false); err != nil {
			b.Fatal(err)
		}
	}
}
