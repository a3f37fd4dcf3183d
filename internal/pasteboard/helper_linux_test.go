package pasteboard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script is a Program that runs a shell script for both questions.
func script(t *testing.T, text string) Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return Program{Path: path, List: []string{"list"}, Image: []string{"image"}, Env: []string{"PATH=/usr/bin:/bin"}}
}

func start(t *testing.T, programs ...Program) *Board {
	t.Helper()
	b, err := Start(programs, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return b
}

const answers = "case $1 in list) echo image/png;; image) printf %s \"$2\";; esac\n"

func TestQuestions(t *testing.T) {
	b := start(t, script(t, answers))
	if types, err := b.Types(t.Context()); err != nil || strings.Join(types, " ") != "image/png" {
		t.Errorf("types %q, %v", types, err)
	}
	if got, err := b.Image(t.Context(), "image/png"); err != nil || string(got) != "image/png" {
		t.Errorf("image %q, %v", got, err)
	}
	for _, kind := range []string{"a\nimage b", strings.Repeat("x", 100)} {
		if got, err := b.Image(t.Context(), kind); err == nil {
			t.Errorf("type %q gives %q", kind, got)
		}
	}
}

func TestSecondProgramIsUsed(t *testing.T) {
	b := start(t, script(t, "exit 1\n"), script(t, answers))
	if types, err := b.Types(t.Context()); err != nil || len(types) != 1 {
		t.Errorf("types %q, %v", types, err)
	}
	if got, err := b.Image(t.Context(), "image/png"); string(got) != "image/png" {
		t.Errorf("image %q, %v", got, err)
	}
}

// TestHangingProgram asks that a program that hangs, with what it started, is
// killed, and that the next question is answered.
func TestHangingProgram(t *testing.T) {
	hang := "sleep 1234567 & sleep 1234567\n"
	b := start(t, script(t, `case $1 in list) `+hang+`;; image) printf x;; esac`))
	begin := time.Now()
	if types, err := b.Types(t.Context()); err == nil {
		t.Errorf("types %q of a program that hangs", types)
	}
	if took := time.Since(begin); took > listTime+slack {
		t.Errorf("it took %v", took)
	}
	until(t, "end of what the program started", func() bool {
		return exec.Command("pgrep", "-f", "sleep 1234567").Run() != nil
	})
	if got, err := b.Image(t.Context(), "image/png"); err != nil || string(got) != "x" {
		t.Errorf("the next question: %q, %v", got, err)
	}
}

func TestPrograms(t *testing.T) {
	for name, text := range map[string]string{
		"fails":         "echo image/png; exit 1\n",
		"too many":      "yes image/png | head -c 70000\n",
		"without end":   "yes image/png\n",
		"closes output": "exec >&-; sleep 1234567\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, script(t, text))
			begin := time.Now()
			if types, err := b.Types(t.Context()); err == nil {
				t.Errorf("types %q", types)
			}
			if took := time.Since(begin); took > listTime+slack {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestConfinement lets the program look for what it must not have.
func TestConfinement(t *testing.T) {
	home := t.TempDir()
	secret := filepath.Join(home, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := start(t, script(t, `cat `+secret+` && echo read
echo x > `+home+`/new && echo write
kill -0 `+strconv.Itoa(os.Getpid())+` && echo kill
cat </dev/tcp/127.0.0.1/22 && echo connect
echo done
`))
	types, err := b.Types(t.Context())
	if got := strings.Join(types, " "); err != nil || got != "done" {
		t.Errorf("the program could %q, %v", got, err)
	}
}

// TestNothingIsLeft ends the helper while its program hangs.
func TestNothingIsLeft(t *testing.T) {
	b := start(t, script(t, "exec sleep 7654321\n"))
	asked := make(chan error, 1)
	go func() {
		_, err := b.Types(t.Context())
		asked <- err
	}()
	until(t, "program", func() bool { return exec.Command("pgrep", "-f", "sleep 7654321").Run() == nil })
	if err := syscall.Kill(b.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if <-asked == nil {
		t.Error("an answer of a dead helper")
	}
	until(t, "end of the program", func() bool { return exec.Command("pgrep", "-f", "sleep 7654321").Run() != nil })
	if _, err := b.Types(t.Context()); err == nil {
		t.Error("a dead helper answers")
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"xclip", "wl-paste"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	both := map[string]string{"PATH": "relative:" + dir, "DISPLAY": ":3", "WAYLAND_DISPLAY": "wayland-1", "XDG_RUNTIME_DIR": "/run/user/7", "SECRET": "x"}
	for _, c := range []struct {
		change map[string]string
		want   string
	}{
		{nil, "wl-paste xclip"},
		{map[string]string{"WAYLAND_DISPLAY": ""}, "xclip"},
		{map[string]string{"DISPLAY": ""}, "wl-paste"},
		{map[string]string{"DISPLAY": "localhost:10.0"}, "wl-paste"},
		{map[string]string{"PATH": "/nonexistent"}, ""},
	} {
		vars := map[string]string{}
		for _, m := range []map[string]string{both, c.change} {
			for k, v := range m {
				vars[k] = v
			}
		}
		var names []string
		for _, p := range Find(Host{Home: "/home/u", Lookup: func(n string) (string, bool) { v, ok := vars[n]; return v, ok }}) {
			names = append(names, filepath.Base(p.Path))
			if strings.Contains(strings.Join(p.Env, " "), "SECRET") {
				t.Errorf("environment %q", p.Env)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.change, got, c.want)
		}
	}
}
