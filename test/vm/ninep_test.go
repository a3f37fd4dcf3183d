//go:build vm

package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nineP is a box whose shares come by 9p and on whose PATH there is no virtiofsd.
func nineP(t *testing.T, config string) *box {
	b := newBox(t)
	b.env = append(b.env, "AIBOX_VIRTIOFSD="+filepath.Join(b.home, "nothing"))
	b.config("shares: 9p\n" + config)
	return b
}

func TestNinePFilesBelongToTheHostUser(t *testing.T) {
	b := nineP(t, "")
	s := b.shell()
	if out := s.must("grep ' /project ' /proc/mounts"); !strings.Contains(out, " 9p rw") {
		t.Errorf("the project is mounted as %q", out)
	}
	s.must("mkdir sub && echo made-in-vm > sub/file && chmod 750 sub/file && ln -s file sub/link && ln sub/file sub/second")
	s.must(asRoot("mkdir -p /project/roots && echo x > /project/roots/file && chmod 600 /project/roots/file"))
	for _, name := range []string{"sub", "sub/file", "sub/link", "sub/second", "roots", "roots/file"} {
		fi, err := os.Lstat(filepath.Join(b.project, name))
		if err != nil {
			t.Fatal(err)
		}
		if st := fi.Sys().(*syscall.Stat_t); int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid() {
			t.Errorf("%s belongs to %d:%d, want %d:%d", name, st.Uid, st.Gid, os.Getuid(), os.Getgid())
		}
	}
	if fi, err := os.Stat(filepath.Join(b.project, "sub", "file")); err != nil || fi.Mode().Perm() != 0o750 {
		t.Errorf("sub/file: %v, %v", fi, err)
	}
}

func TestNinePEditsAreSeenAtOnceInBothDirections(t *testing.T) {
	s, path := seeEdits(t, nineP(t, ""))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if out := s.must("ls -A"); out != "" {
		t.Errorf("after a removal: %q", out)
	}
}

func TestNinePServesGit(t *testing.T) {
	b := nineP(t, "")
	s := b.shell()
	s.must("git init -q && echo one > a && mkdir d && echo two > d/b && git add . && git -c user.name=n -c user.email=e@x commit -qm first && git fsck && git status --short")
	if out := s.must("git log --oneline | wc -l"); strings.TrimSpace(out) != "1" {
		t.Errorf("%q commits", out)
	}
	s.must("git gc -q && git fsck --full")
}

func TestNinePReadOnlyMountRefusesWritesOfRoot(t *testing.T) {
	b := newBox(t)
	tools := filepath.Join(b.home, "tools, with: odd")
	if err := os.Mkdir(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "tool"), []byte("original"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.config(fmt.Sprintf("shares: 9p\nmounts:\n  - %q\n", tools+":/opt/tools"))
	s := b.shell()
	if got := s.must("cat /opt/tools/tool"); got != "original" {
		t.Fatalf("the tool holds %q", got)
	}
	for _, command := range []string{
		"echo x > /opt/tools/tool", "rm /opt/tools/tool", "touch /opt/tools/new", "chmod 777 /opt/tools/tool", "mv /opt/tools/tool /opt/tools/t",
		"mount -o remount,rw /run/aibox/shares; mount -o remount,rw,bind /opt/tools; echo x > /opt/tools/tool",
		"echo x > /run/aibox/shares/m0/tool", "mkdir /run/aibox/shares/new", "ln /run/aibox/shares/m0/tool /run/aibox/shares/project/tool",
	} {
		if out, code := s.do(asRoot(command)); code == 0 {
			t.Errorf("root's %q works: %s", command, out)
		}
	}
	if b, err := os.ReadFile(filepath.Join(tools, "tool")); string(b) != "original" {
		t.Errorf("the tool holds %q, %v", b, err)
	}
	if entries, err := os.ReadDir(tools); err != nil || len(entries) != 1 {
		t.Errorf("beside the tool: %v, %v", entries, err)
	}
}

// A folder that the VM has open and that the host replaces by a link leads
// nowhere else, and neither does a link.
func TestNinePLinksLeadNowhere(t *testing.T) {
	b := nineP(t, "")
	outside := filepath.Join(b.home, "outside")
	for _, dir := range []string{outside, filepath.Join(b.project, "dir")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := b.shell()
	s.must("echo inside > dir/file; cd dir && ls && test -e file")
	if err := os.Rename(filepath.Join(b.project, "dir"), filepath.Join(b.project, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.project, "dir")); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"cat secret", "cat /project/dir/secret", "cat /run/aibox/shares/project/dir/secret", "echo x > /project/dir/new", "ls /project/dir/",
	} {
		if out, code := s.do(command); code == 0 {
			t.Errorf("%q works: %s", command, out)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("the folder outside holds %v, %v", entries, err)
	}
}

func TestNinePMapsAndLocks(t *testing.T) {
	b := nineP(t, "")
	s := b.shell()
	s.must(`python3 -c "
import mmap, os, fcntl
f = open('map', 'w+b'); f.truncate(100000)
m = mmap.mmap(f.fileno(), 0); m[70000:70005] = b'hello'; m.flush(); m.close()
g = open('map', 'rb'); g.seek(70000); assert g.read(5) == b'hello', 'read after a mapped write'
fcntl.lockf(f, fcntl.LOCK_EX)
if os.fork() == 0:
    try: fcntl.lockf(open('map', 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB); os._exit(1)
    except OSError: os._exit(0)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0, 'the lock holds for others'
"`)
	text, err := os.ReadFile(filepath.Join(b.project, "map"))
	if err != nil || len(text) != 100000 || string(text[70000:70005]) != "hello" {
		t.Errorf("the host reads %d bytes, %v", len(text), err)
	}
}

func TestNinePKilledLeavesNothing(t *testing.T) {
	b := nineP(t, "")
	s := b.shell()
	s.must("true")
	if len(machines(t)) < 3 {
		t.Fatalf("only %v run", machines(t))
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	noneWithin(t, killTime)
}

func TestNinePDemo(t *testing.T) {
	b := newBox(t)
	b.env = append(b.env, "AIBOX_VIRTIOFSD="+filepath.Join(b.home, "nothing"))
	cmd := exec.CommandContext(t.Context(), readEnvironment().aibox, "demo", "--image", readEnvironment().image)
	cmd.Env, cmd.Dir = b.env, b.project
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "demo passed") {
		t.Errorf("aibox demo: %v\n%s", err, out)
	}
}
