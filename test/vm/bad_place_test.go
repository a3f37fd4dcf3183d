//go:build vm

package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/run"
)

func TestBadPlaces(t *testing.T) {
	const gone = "/nonexistent"
	for name, c := range map[string]struct {
		prepare func(b *box)
		want    want
	}{
		"home unset":    {func(b *box) { b.setenv("HOME") }, want{4, "HOME is not set", "set HOME"}},
		"home relative": {func(b *box) { b.setenv("HOME", "home") }, want{4, `HOME is "home"`, "set HOME"}},
		"home missing":  {func(b *box) { b.setenv("HOME", gone) }, want{4, `HOME is "/nonexistent": no such file`, "set HOME"}},
		"home a file":   {func(b *box) { b.setenv("HOME", filepath.Join(b.project, "precious")) }, want{4, "not a folder", "set HOME"}},
		"in the home":   {func(b *box) { b.project = b.home }, want{5, "is your home folder", "folder of one project"}},
		"in the root":   {func(b *box) { b.project = "/" }, want{5, "holds your home folder", "folder of one project"}},
		"above the home": {func(b *box) { b.setenv("HOME", b.project); b.project = filepath.Dir(b.project) },
			want{5, "holds your home folder", "folder of one project"}},
		"in ~/.aibox": {func(b *box) {
			b.config("")
			b.project = b.state()
		}, want{5, "lies in ~/.aibox", "folder of one project"}},
		"a link to the home": {func(b *box) {
			b.project = filepath.Join(b.project, "link")
			b.must(os.Symlink(b.home, b.project))
		}, want{5, "is your home folder", "folder of one project"}},
		"somebody else's":  {func(b *box) { b.project = "/usr" }, want{5, "belongs to another user", "a folder of your own"}},
		"not writable":     {func(b *box) { b.must(os.Chmod(b.project, 0o500)) }, want{5, "is not writable for you", "chmod u+rwx "}},
		"~/.aibox a file":  {func(b *box) { b.write(filepath.Join(b.home, ".aibox"), "mine") }, want{5, "must be a folder of its own, but is a file", "move it away"}},
		"~/.aibox no link": {func(b *box) { b.must(os.Symlink(gone, filepath.Join(b.home, ".aibox"))) }, want{5, "must be a folder of its own, but is a link", "move it away"}},
		"~/.aibox in the project": {func(b *box) {
			b.must(os.Mkdir(filepath.Join(b.project, "sub"), 0o700))
			b.must(os.Symlink(filepath.Join(b.project, "sub"), filepath.Join(b.home, ".aibox")))
		}, want{5, "holds ~/.aibox", "folder of one project"}},
		"a home without rights": {func(b *box) { b.must(os.Chmod(b.home, 0o500)) }, want{4, "cannot make the folder", "check whose it is"}},
		"the state disk a folder": {func(b *box) {
			b.config("")
			b.must(os.Mkdir(filepath.Join(b.state(), "state.ext4"), 0o700))
		}, want{5, "must be a file, but is a folder", "aibox projects reset"}},
		"the state disk cut off": {func(b *box) {
			b.config("")
			b.write(filepath.Join(b.state(), "state.ext4"), "short")
		}, want{1, "is damaged: its size is 5 bytes", "aibox projects reset"}},
		"console.log a link": {func(b *box) {
			b.config("")
			b.must(os.Symlink(filepath.Join(b.project, "precious"), filepath.Join(b.state(), "console.log")))
		}, want{5, "must be a file, but is a link", "move it away"}},
		"the VM's home a link": {func(b *box) {
			b.config("")
			b.must(os.Symlink(b.home, filepath.Join(b.state(), "home")))
		}, want{5, "must be a folder of its own, but is a link", "move it away"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUser(t)
			home := b.home
			t.Cleanup(func() { _ = os.Chmod(home, 0o700); _ = os.Chmod(filepath.Join(home, "src", "my-project"), 0o700) })
			c.prepare(b)
			b.refuses(c.want)
		})
	}
}

func (b *box) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestMissingPrograms(t *testing.T) {
	for missing, w := range map[string]want{
		"qemu-system-x86_64": {4, "QEMU, which runs the VM, is not installed", "apt-get install qemu-system-x86"},
		"bwrap":              {4, "bubblewrap, which confines the VM's programs, is not installed", "apt-get install bubblewrap"},
	} {
		b := newUser(t)
		b.setenv("PATH", b.programs(missing))
		b.refuses(w)
	}
	b := newUser(t)
	b.setenv("PATH", "")
	b.refuses(want{4, "is not installed", "apt-get install"})
	if _, err := os.Stat("/usr/libexec/virtiofsd"); err == nil {
		return // it is found outside of PATH too
	}
	b = newUser(t)
	b.setenv("AIBOX_VIRTIOFSD", filepath.Join(b.home, "none"))
	without := b.start("cat precious")
	if out, code := without.wait(); code != 0 || out != "work of a day" || !strings.Contains(without.stderr.String(), "by 9p, since there is no virtiofsd") {
		t.Errorf("without virtiofsd: %d, %q, %s", code, out, without.stderr)
	}
}

// programs makes a PATH with all programs that a run may look for but some.
func (b *box) programs(but ...string) string {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "bin")
	b.must(os.Mkdir(dir, 0o700))
	for _, name := range []string{"qemu-system-x86_64", "bwrap", "git", "ldd", "sh", "bash", "cat"} {
		path, err := exec.LookPath(name)
		if err != nil || strings.Contains(strings.Join(but, " "), name) {
			continue
		}
		b.must(os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

func TestRunsWithLittle(t *testing.T) {
	b := newUser(t)
	b.setenv("PATH", b.programs("git", "ldd", "sh", "bash", "cat"))
	b.setenv("TERM")
	b.setenv("LANG")
	b.must(os.Mkdir(filepath.Join(b.home, "elsewhere"), 0o700))
	b.must(os.Symlink(filepath.Join(b.home, "elsewhere"), filepath.Join(b.home, ".aibox")))
	c := b.terminal("--shell", "--memory", "512", "--cpus", "1")
	c.await(`\$ `)
	c.send("echo cpus=$(nproc) memory=$(free -m | awk '/Mem/ {print $2}') term=$TERM.\r")
	m := c.await(`cpus=(\d+) memory=(\d+) term=(\w*)\.\r\n`)
	if m[1] != "1" || len(m[2]) != 3 || m[2] < "450" || m[2] > "512" {
		t.Errorf("the VM has %s CPUs and %s MiB, want 1 and about 490", m[1], m[2])
	}
	c.send("exit\r")
	if _, code := c.last(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Names of folders that are syntax to a shell, QEMU, bubblewrap, YAML or a
// terminal, and a path of 4,000 bytes.
func TestOddPaths(t *testing.T) {
	for _, name := range []string{
		"with space/colon:comma,equals=/new\nline/-dash/quote'\"$(x)`x`/*?/%s%n/\\",
		"ünïcödé ✓\u202e/\x1b[31mred/\xff\xfe",
		strings.Repeat(strings.Repeat("n", 99)+"/", 50),
	} {
		b := newBox(t)
		b.project = filepath.Join(b.home, name)
		b.project = strings.TrimSuffix(b.project[:min(len(b.project), 4000)], "/")
		b.must(os.MkdirAll(b.project, 0o755))
		s := b.start("echo seen > file; git init -q .", func(r *run.Request) { r.Dir = "" })
		if _, code := s.wait(); code != 0 {
			t.Errorf("%q: exit code %d, %s", name, code, tail(s.stderr.String(), 1000))
			continue
		}
		if text, err := os.ReadFile(filepath.Join(b.project, "file")); err != nil || string(text) != "seen\n" {
			t.Errorf("%q: %q, %v", name, text, err)
		}
		if out, err := b.aibox("projects", "list"); err != nil || strings.Count(out, "\n") != 2 || strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("aibox projects list: %v, %q", err, out)
		}
	}
}

func TestPathThatIsTooLong(t *testing.T) {
	b := newUser(t)
	cmd := exec.Command("bash", "-c", `for i in $(seq 50); do mkdir "$1" && cd "$1" || exit 9; done; exec "$0" run`,
		readEnvironment().aibox, strings.Repeat("n", 100))
	screen, code := b.onTerminal(cmd).last()
	want{5, "is too long: it has 5", "shorter path"}.check(t, screen, code)
}

func TestProjectDeletedDuringTheRun(t *testing.T) {
	b := newUser(t)
	s := b.shell()
	s.must("cat precious")
	b.must(os.RemoveAll(b.project))
	if out, code := s.do("ls -A; echo still here; cd /tmp && touch x && echo works"); code != 0 || !strings.Contains(out, "works") {
		t.Errorf("after the project's end: %d, %s", code, out)
	}
	if _, code := s.wait(); code != 0 {
		t.Errorf("exit code %d, %s", code, s.stderr.String())
	}
	noneLeft(t)
	// and before it
	gone := b.project
	b.project = b.home
	second := b.start("true", func(r *run.Request) { r.Dir = gone })
	if _, code := second.wait(); code != 5 {
		t.Errorf("a project that is gone: exit code %d", code)
	}
}
