//go:build vm

package vm

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// want is what a user must see who gives bad input: aibox's exit code, and
// one line with a hint below it.
type want struct {
	code       int
	text, hint string
}

// noise are lines that may stand before: they are no errors.
var noise = regexp.MustCompile(`^aibox: (no hardware virtualization|starting the VM)`)

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// said returns the lines of a screen without colours and noise.
func said(screen string) (lines []string) {
	for line := range strings.Lines(colour.ReplaceAllString(screen, "")) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !noise.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// check compares what a command left on its terminal.
func (w want) check(t *testing.T, screen string, code int) {
	t.Helper()
	lines := said(screen)
	if code != w.code {
		t.Errorf("exit code %d, want %d", code, w.code)
	}
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "aibox: ") || !strings.HasPrefix(lines[1], "hint: ") {
		t.Errorf("the user reads %q, want one line and one hint", lines)
		return
	}
	if !strings.Contains(lines[0], w.text) || !strings.Contains(lines[1], w.hint) {
		t.Errorf("the user reads %q, want %q and %q", lines, w.text, w.hint)
	}
}

// last waits for the end of a command and returns all that its terminal got.
func (c *console) last() (screen string, code int) {
	c.t.Helper()
	code = c.wait()
	const mark = "<<the terminal's end>>"
	if _, err := c.tty.WriteString(mark); err != nil {
		c.t.Fatal(err)
	}
	c.await(regexp.QuoteMeta(mark))
	screen, _, _ = strings.Cut(c.out.String(), mark)
	return screen, code
}

// refuses runs `aibox run` on a terminal, which must end as wanted, lose
// nothing of the user's, and leave no process.
func (b *box) refuses(w want, args ...string) {
	b.t.Helper()
	before := b.users()
	screen, code := b.terminal(args...).last()
	w.check(b.t, screen, code)
	noneLeft(b.t)
	b.same(before)
}

// users returns what the user owns: the home but for ~/.aibox, and the configs.
func (b *box) users() map[string]string {
	b.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(b.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // what is unreadable is so before and after
		}
		rel, _ := filepath.Rel(b.home, path)
		if strings.HasPrefix(rel, ".aibox") && e.Name() != "config.yaml" {
			return nil
		}
		files[rel] = e.Type().String()
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			files[rel] += fmt.Sprintf(" %q %v", text, err)
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return files
}

// same fails if what the user owns changed but for a config that was made.
func (b *box) same(before map[string]string) {
	b.t.Helper()
	after := b.users()
	for path, was := range before {
		if after[path] != was {
			b.t.Errorf("%s is now %s and was %s", path, after[path], was)
		}
		delete(after, path)
	}
	for path := range after {
		if filepath.Base(path) != "config.yaml" {
			b.t.Errorf("%s was made", path)
		}
	}
}

// newUser is newBox with a file in the project that must survive.
func newUser(t *testing.T) *box {
	b := newBox(t)
	b.write(filepath.Join(b.project, "precious"), "work of a day")
	return b
}

func (b *box) write(path, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// setenv replaces a variable of the user's environment, or removes it.
func (b *box) setenv(name string, value ...string) {
	var env []string
	for _, e := range b.env {
		if !strings.HasPrefix(e, name+"=") {
			env = append(env, e)
		}
	}
	for _, v := range value {
		env = append(env, name+"="+v)
	}
	b.env = env
}

func TestBadConfigs(t *testing.T) {
	const hint = "hint: "
	for config, w := range map[string]want{
		"alow: [x]":                  {3, `config.yaml:1:1: unknown key "alow"`, `did you mean "allow"?`},
		"memory: lots":               {3, `config.yaml:1:9: memory must be a whole number of MiB, not the text "lots"`, "write memory: 2048"},
		"memory: 1":                  {3, "config.yaml:1:9: memory is 1", "write memory:"},
		"cpus: 0":                    {3, "config.yaml:1:7: cpus is 0, but must be 1 to 64", "write cpus:"},
		"cpus: 10000":                {3, "config.yaml:1:7: cpus is 10000, but must be 1 to 64", "write cpus:"},
		"memory: 1048576":            {4, "1048576 MiB of memory are more than", "--memory"},
		"cpus: 1\ncpus: 2":           {3, `config.yaml:2:1: "cpus" is written twice, first on line 1`, "keep one"},
		`allow: [ "localhost:80" ]`:  {3, `config.yaml:1:10: allow: "localhost:80"`, "127.0.0.1:80"},
		`allow: [ "0.0.0.0:1" ]`:     {3, `config.yaml:1:10: allow: "0.0.0.0:1"`, "127.0.0.1:1"},
		`allow: [ "*" ]`:             {3, `config.yaml:1:10: allow: "*" would allow every host`, "*.example.com"},
		`allow: [ "http://x" ]`:      {3, `config.yaml:1:10: allow: "http://x" is a URL`, "write x:80"},
		`allow: [ "a..b" ]`:          {3, `config.yaml:1:10: allow: "a..b" has an empty label`, hint},
		`allow: [ "*.*.x" ]`:         {3, `config.yaml:1:10: allow: "*.*.x"`, "*.example.com"},
		`allow: [ "host:0" ]`:        {3, `config.yaml:1:10: allow: "host:0" has no port from 1 to 65535`, "host:443"},
		`allow: [ "host:99999" ]`:    {3, `config.yaml:1:10: allow: "host:99999" has no port from 1 to 65535`, "host:443"},
		`mounts: [ "/etc:/usr" ]`:    {3, `would cover /usr`, "/docs"},
		`mounts: [ "~:/docs" ]`:      {5, "is your home folder", "mount a folder that holds less"},
		`mounts: [ "/:/docs" ]`:      {5, "holds your home folder", "mount a folder that holds less"},
		`mounts: [ "~/none:/docs" ]`: {3, "none\" does not exist", `remove the line under "mounts"`},
		`mounts: [ "~/.aibox:/x" ]`:  {5, "where aibox keeps its own files", "mounts"},
		"allow: [ *.example.com ]":   {3, "must stand in quotes", `"*.example.com"`},
		"allow:\n\t- x":              {3, "config.yaml:2:1: not valid YAML", "spaces, not with tabs"},
		"allow: [ x":                 {3, "not valid YAML", "brackets"},
		"allow: [ \xff ]":            {3, "config.yaml:1:10: byte 0xff is not UTF-8", "UTF-8"},
		"env: [HOME=x]":              {3, "config.yaml:1:7: env: HOME is set by aibox", "remove this item"},
	} {
		t.Run(config, func(t *testing.T) {
			b := newUser(t)
			b.config(config)
			b.refuses(w)
		})
	}
}

func TestConfigThatIsNoFile(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want want
	}{
		"folder":        {func(p string) error { return os.Mkdir(p, 0o700) }, want{3, "is a folder, not a file", "move it away"}},
		"FIFO":          {func(p string) error { return syscall.Mkfifo(p, 0o600) }, want{3, "is a FIFO, not a file", "move it away"}},
		"unreadable":    {func(p string) error { return os.WriteFile(p, nil, 0) }, want{3, "cannot be read: permission denied", "chmod u+rw "}},
		"dangling link": {func(p string) error { return os.Symlink("/nonexistent/x", p) }, want{3, "link that leads to nothing", "rm "}},
		"device":        {func(p string) error { return os.Symlink("/dev/zero", p) }, want{3, "is a device, not a file", "move it away"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUser(t)
			b.config("")
			path := filepath.Join(b.state(), "config.yaml")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			b.refuses(c.want)
		})
	}
}

func TestBadFlags(t *testing.T) {
	b := newUser(t)
	for args, w := range map[string]want{
		"--memory 1":         {2, "--memory is 1, but must be", "--memory 2048"},
		"--memory -5":        {2, "--memory is -5", "--memory 2048"},
		"--memory lots":      {2, `"lots" for "--memory" flag: it is no whole number`, "--help"},
		"--memory 999999":    {4, "999999 MiB of memory are more than", "--memory"},
		"--cpus 0":           {2, "--cpus is 0, but must be 1 to 64", "--cpus 2"},
		"--cpus 10000":       {2, "--cpus is 10000, but must be 1 to 64", "--cpus 2"},
		"--resume ../x":      {2, `"../x" is no session id`, "aibox prints the id"},
		"--no-such-flag":     {2, "unknown flag: --no-such-flag", "--help"},
		"argument":           {2, `takes no argument, but got "argument"`, "--help"},
		"--image /nonexist":  {2, "--image /nonexist: no vmlinuz in it", "vmlinuz and os.ext4"},
		"--image /etc/hosts": {2, "--image /etc/hosts: no vmlinuz in it", "vmlinuz and os.ext4"},
	} {
		b.refuses(w, strings.Fields(args)...)
	}
}

func TestNoStandardInput(t *testing.T) {
	b := newUser(t)
	cmd := exec.Command("sh", "-c", `exec "$0" run --image "$1" <&-`, readEnvironment().aibox, b.image)
	cmd.Dir, cmd.Env = b.project, b.env
	out, _ := cmd.CombinedOutput()
	want{2, "needs a terminal on stdin", "in a terminal"}.check(t, string(out), cmd.ProcessState.ExitCode())
}
