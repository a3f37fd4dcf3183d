//go:build vm

package vm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aibox/internal/run"
	"aibox/test/output"
)

// bootDeadline bounds a boot and one command under software emulation on a busy machine.
const bootDeadline = 90 * time.Second

// runDeadline bounds a whole run unless its box says otherwise.
const runDeadline = 5 * time.Minute

// box is a user of aibox: a home, a project folder, and the program.
type box struct {
	t       *testing.T
	home    string
	project string
	image   string
	env     []string
	limit   time.Duration // of a run
}

// newBox makes a home with an empty project whose VM boots the test image.
func newBox(t *testing.T) *box {
	t.Helper()
	env := readEnvironment()
	home := t.TempDir()
	b := &box{t: t, home: home, project: filepath.Join(home, "src", "my-project"), image: env.testImage, limit: runDeadline}
	if err := os.MkdirAll(b.project, 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "AIBOX_VIRTIOFSD=" + env.virtiofsd}
	return b
}

// state is the folder that aibox keeps for the project.
func (b *box) state() string {
	b.t.Helper()
	entries, err := filepath.Glob(filepath.Join(b.home, ".aibox", "projects", "*"))
	if err != nil || len(entries) != 1 {
		b.t.Fatalf("projects = %v, %v, want one", entries, err)
	}
	return entries[0]
}

// config writes the project's config. The first call lets aibox make the folder.
func (b *box) config(text string) {
	b.t.Helper()
	out, err := b.aibox("config", "path")
	if err != nil {
		b.t.Fatalf("aibox config path: %v\n%s", err, out)
	}
	path := strings.TrimSpace(out)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// aibox runs a command of aibox in the project to its end.
func (b *box) aibox(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), bootDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, readEnvironment().aibox, args...)
	cmd.Dir, cmd.Env = b.project, b.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// session is a running `aibox` with a VM, its command's files in our hands.
type session struct {
	t      *testing.T
	box    *box
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *output.Buffer
	done   chan error
}

// start boots a VM that runs command, without a terminal.
func (b *box) start(command string, change ...func(*run.Request)) *session {
	b.t.Helper()
	request := run.Request{Dir: b.project, Home: b.home, Image: b.image, Command: command}
	for _, f := range change {
		f(&request)
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	b.t.Cleanup(func() { w.Close() }) // its end would end the run
	if _, err := w.Write(text); err != nil {
		b.t.Fatal(err)
	}

	s := &session{t: b.t, box: b, stderr: &output.Buffer{}, done: make(chan error, 1)}
	s.cmd = exec.Command(readEnvironment().aibox, run.SessionCommand)
	s.cmd.Dir, s.cmd.Env, s.cmd.ExtraFiles = b.project, b.env, []*os.File{r}
	s.cmd.Stderr = s.stderr
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	s.stdout = bufio.NewReader(stdout)
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	timer := time.AfterFunc(b.limit, func() { _ = s.cmd.Process.Signal(syscall.SIGQUIT) })
	b.t.Cleanup(func() {
		timer.Stop()
		_ = s.cmd.Process.Kill()
		if b.t.Failed() {
			b.report(s)
		}
	})
	return s
}

// report prints what helps to understand a failure.
func (b *box) report(s *session) {
	b.t.Logf("aibox's stderr:\n%s", tail(s.stderr.String(), 4000))
	logs, _ := filepath.Glob(filepath.Join(b.home, ".aibox", "projects", "*", "*.log"))
	for _, log := range logs {
		text, _ := os.ReadFile(log)
		b.t.Logf("%s:\n%s", filepath.Base(log), tail(string(text), 4000))
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// wait returns the rest of stdout and the exit code.
func (s *session) wait() (string, int) {
	s.t.Helper()
	s.stdin.Close()
	type result struct {
		out []byte
		err error
	}
	ended := make(chan result, 1)
	go func() {
		out, _ := io.ReadAll(s.stdout)
		ended <- result{out, s.cmd.Wait()}
	}()
	select {
	case r := <-ended:
		if _, exited := r.err.(*exec.ExitError); r.err != nil && !exited {
			s.t.Fatalf("wait for aibox: %v", r.err)
		}
		return string(r.out), s.cmd.ProcessState.ExitCode()
	case <-time.After(bootDeadline):
		s.t.Fatalf("aibox did not end within %v", bootDeadline)
		return "", -1
	}
}

// run boots a VM, runs the shell command line in it and returns its output and exit code.
func (b *box) run(command string, change ...func(*run.Request)) (string, int) {
	b.t.Helper()
	return b.start(command, change...).wait()
}

// mustRun is run for a command that must succeed.
func (b *box) mustRun(command string, change ...func(*run.Request)) string {
	b.t.Helper()
	s := b.start(command, change...)
	out, code := s.wait()
	if code != 0 {
		b.t.Fatalf("%s: exit code %d\nstdout: %s\nstderr: %s", command, code, tail(out, 2000), tail(s.stderr.String(), 2000))
	}
	return out
}

// shell is a shell in a running VM that takes one command after the other.
type shell struct {
	*session
	n int
}

func (b *box) shell(change ...func(*run.Request)) *shell {
	b.t.Helper()
	return &shell{session: b.start("exec bash 2>&1", change...)}
}

// do runs a command line and returns its output, stderr included, and exit code.
func (s *shell) do(command string) (string, int) {
	s.t.Helper()
	return s.doWithin(bootDeadline, command)
}

func (s *shell) doWithin(limit time.Duration, command string) (string, int) {
	s.t.Helper()
	s.n++
	mark := fmt.Sprintf("<<end %d ", s.n)
	if _, err := fmt.Fprintf(s.stdin, "( %s\n) </dev/null; printf '\\n%s%%d>>\\n' $?\n", command, mark); err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	type result struct {
		out  string
		code int
		err  error
	}
	got := make(chan result, 1)
	var out output.Buffer
	go func() {
		for {
			line, err := s.stdout.ReadString('\n')
			if rest, found := strings.CutPrefix(line, mark); found {
				var code int
				_, err := fmt.Sscanf(rest, "%d>>", &code)
				got <- result{strings.TrimSuffix(out.String(), "\n"), code, err}
				return
			}
			_, _ = out.Write([]byte(line)) // never fails
			if err != nil {
				got <- result{out.String(), -1, err}
				return
			}
		}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			s.t.Fatalf("%s: the session ended: %v\noutput: %s", command, r.err, r.out)
		}
		return r.out, r.code
	case <-time.After(limit):
		_ = s.cmd.Process.Kill() // nobody can tell its answer from the next one's
		s.t.Fatalf("%s: no answer within %v but %q", command, limit, tail(out.String(), 500))
		return "", -1
	}
}

// must is do for a command that must succeed.
func (s *shell) must(command string) string {
	s.t.Helper()
	return s.mustWithin(bootDeadline, command)
}

func (s *shell) mustWithin(limit time.Duration, command string) string {
	s.t.Helper()
	out, code := s.doWithin(limit, command)
	if code != 0 {
		s.t.Fatalf("%s: exit code %d\n%s", command, code, out)
	}
	return out
}

// asRoot returns a command line that runs as the VM's root (test image only).
func asRoot(command string) string { return "/usr/lib/aibox-test/root bash -c " + quote(command) }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
