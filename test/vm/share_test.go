//go:build vm

package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProjectFilesBelongToTheHostUser(t *testing.T) {
	b := newBox(t)
	b.mustRun("mkdir sub && echo made-in-vm > sub/file && chmod 750 sub/file && ln -s file sub/link")
	for _, name := range []string{"sub", "sub/file", "sub/link"} {
		fi, err := os.Lstat(filepath.Join(b.project, name))
		if err != nil {
			t.Fatal(err)
		}
		st := fi.Sys().(*syscall.Stat_t)
		if int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid() {
			t.Errorf("%s belongs to %d:%d, want %d:%d", name, st.Uid, st.Gid, os.Getuid(), os.Getgid())
		}
	}
	text, err := os.ReadFile(filepath.Join(b.project, "sub", "file"))
	if err != nil || string(text) != "made-in-vm\n" {
		t.Errorf("sub/file = %q, %v", text, err)
	}
}

// seeEdits edits a file on the host and in the VM in turns, at last by renaming
// another over it, and returns the session and the file's path.
func seeEdits(t *testing.T, b *box) (s *shell, path string) {
	t.Helper()
	path = filepath.Join(b.project, "file")
	s = b.shell()
	for i := range 5 {
		want := fmt.Sprintf("host %d %s", i, strings.Repeat("x", i*5000))
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := s.must("cat file"); got != want {
			t.Errorf("edit %d of the host: the VM reads %d bytes, want %d", i, len(got), len(want))
		}
		s.must(fmt.Sprintf("echo vm %d > file", i))
		if got, err := os.ReadFile(path); err != nil || string(got) != fmt.Sprintf("vm %d\n", i) {
			t.Errorf("edit %d of the VM: the host reads %q, %v", i, got, err)
		}
	}
	if err := os.WriteFile(path+".new", []byte("renamed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if got := s.must("cat file; ls"); got != "renamedfile\n" {
		t.Errorf("after a rename over: %q", got)
	}
	return s, path
}

func TestEditsAreSeenAtOnceInBothDirections(t *testing.T) {
	s, path := seeEdits(t, newBox(t))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for {
		out, code := s.do("test ! -e file && ls -A")
		if code == 0 && out == "" {
			break
		}
		if time.Since(start) > 5*time.Second {
			t.Fatalf("a removed file is still seen: %q", out)
		}
	}
}

func TestReadOnlyMountRefusesWritesOfRoot(t *testing.T) {
	b := newBox(t)
	tools := filepath.Join(b.home, "tools, with: odd")
	if err := os.Mkdir(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "tool"), []byte("original"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(b.home, "tools")
	if err := os.Symlink(tools, link); err != nil {
		t.Fatal(err)
	}
	b.config("mounts: [\"" + link + ":/opt/tools\"]\n")
	s := b.shell()
	if got := s.must("cat /opt/tools/tool"); got != "original" {
		t.Errorf("the mount holds %q", got)
	}
	// the share itself, below the bind that the guest made read-only
	if got := s.must(asRoot("cat /run/aibox/shares/m0/tool")); got != "original" {
		t.Errorf("the share holds %q", got)
	}
	for _, attack := range []string{
		"echo x > /opt/tools/tool",
		"touch /opt/tools/new",
		asRoot("mount -o remount,rw /opt/tools && echo x > /opt/tools/tool"),
		asRoot("mount -o remount,rw,bind /opt/tools && touch /opt/tools/new"),
		asRoot("test -d /run/aibox/shares/m0 && echo x > /run/aibox/shares/m0/tool"),
		asRoot("chmod 777 /run/aibox/shares/m0/tool"),
		asRoot("rm /run/aibox/shares/m0/tool"),
	} {
		if out, code := s.do(attack); code == 0 {
			t.Errorf("%s succeeded: %s", attack, out)
		}
	}
	entries, err := os.ReadDir(tools)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if got, _ := os.ReadFile(filepath.Join(tools, "tool")); string(got) != "original" {
		t.Errorf("the file holds %q", got)
	}
}

func TestHomeAndStateDiskSurviveARestart(t *testing.T) {
	b := newBox(t)
	b.mustRun(`mkdir -p ~/.claude && echo login > ~/.claude/.credentials.json
		printf '#!/bin/sh\necho tool works\n' > /usr/local/bin/mytool && chmod +x /usr/local/bin/mytool && mytool
		echo cached > ~/.cache/file; echo gone > /tmp/file`)
	got := b.mustRun("cat ~/.claude/.credentials.json ~/.cache/file; mytool; ls /tmp/file 2>&1 || true")
	for _, want := range []string{"login\n", "cached\n", "tool works\n", "No such file"} {
		if !strings.Contains(got, want) {
			t.Errorf("the second run printed %q, want %q in it", got, want)
		}
	}
	fi, err := os.Stat(filepath.Join(b.state(), "state.ext4"))
	if err != nil {
		t.Fatal(err)
	}
	if used := fi.Sys().(*syscall.Stat_t).Blocks * 512; used > fi.Size()/4 {
		t.Errorf("state.ext4 uses %d of %d bytes, so it is not sparse", used, fi.Size())
	}
}

func TestStateDiskWithForeignDataIsRefusedAndKept(t *testing.T) {
	b := newBox(t)
	b.mustRun("true")
	path := filepath.Join(b.state(), "state.ext4")
	foreign := strings.Repeat("precious data of another file system ", 100)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(foreign), 512<<20); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s := b.start("true")
	if _, code := s.wait(); code == 0 {
		t.Error("a state disk with foreign data was accepted")
	}
	if !strings.Contains(s.stderr.String(), "state") {
		t.Errorf("stderr = %q, want it to name the state disk", s.stderr.String())
	}
	got := make([]byte, len(foreign))
	f, err = os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(got, 512<<20); err != nil || string(got) != foreign {
		t.Errorf("the foreign data is gone: %v", err)
	}
}
