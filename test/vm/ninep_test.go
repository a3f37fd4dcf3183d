//go:build vm

package vm

import (
	"fmt"
	"os"
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
	b := nineP(t, "")
	path := filepath.Join(b.project, "file")
	s := b.shell()
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
