//go:build hostile

package hostile

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aibox/internal/run"
)

// bootDeadline bounds a boot and one command under software emulation on a busy machine.
const bootDeadline = 90 * time.Second

// commandDeadline bounds a command in a VM that has booted.
const commandDeadline = 50 * time.Second

// box is a user of aibox: a home, a project folder, and the program.
type box struct {
	t             *testing.T
	home, project string
	env           []string
}

// newBox makes a home with a project that holds the attacker.
func newBox(t *testing.T) *box {
	t.Helper()
	home := t.TempDir()
	b := &box{t: t, home: home, project: filepath.Join(home, "src", "project")}
	if err := os.MkdirAll(b.project, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(readEnvironment().attacker)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.project, "attacker"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm", "AIBOX_VIRTIOFSD=" + readEnvironment().virtiofsd}
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

func (b *box) config(text string) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), readEnvironment().aibox, "config", "path")
	cmd.Dir, cmd.Env = b.project, b.env
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("aibox config path: %v", err)
	}
	path := strings.TrimSpace(string(out))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// session is a running `aibox` with a VM, its command's files in our hands.
type session struct {
	t      *testing.T
	box    *box
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *lockedBuffer
	ended  chan struct{}
	n      int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start boots a VM that runs command, without a terminal.
func (b *box) start(command string, change ...func(*run.Request)) *session {
	b.t.Helper()
	request := run.Request{Dir: b.project, Home: b.home, Image: readEnvironment().testImage, Command: command}
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
	s := &session{t: b.t, box: b, stderr: &lockedBuffer{}, ended: make(chan struct{})}
	s.cmd = exec.Command(readEnvironment().aibox, run.SessionCommand)
	s.cmd.Dir, s.cmd.Env, s.cmd.ExtraFiles = b.project, b.env, []*os.File{r}
	s.cmd.Stderr = s.stderr
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	s.cmd.Stdout, s.stdout = in, bufio.NewReader(out)
	err = s.cmd.Start()
	in.Close()
	if err != nil {
		b.t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait()
	}()
	b.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended
		out.Close()
		if b.t.Failed() {
			b.report(s)
		}
	})
	return s
}

// report prints what helps to understand a failure.
func (b *box) report(s *session) {
	b.t.Logf("aibox's stderr:\n%s", tail(s.stderr.String(), 3000))
	logs, _ := filepath.Glob(filepath.Join(b.home, ".aibox", "projects", "*", "*.log"))
	for _, log := range logs {
		text, _ := os.ReadFile(log)
		b.t.Logf("%s:\n%q", filepath.Base(log), tail(string(text), 2000))
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// wait waits for the end of aibox and returns the rest of stdout and the exit code.
func (s *session) wait(t *testing.T) (string, int) {
	t.Helper()
	s.stdin.Close()
	read := make(chan string, 1)
	go func() {
		out, _ := io.ReadAll(s.stdout)
		read <- string(out)
	}()
	timer := time.AfterFunc(bootDeadline, func() { _ = s.cmd.Process.Signal(syscall.SIGQUIT) })
	<-s.ended
	if !timer.Stop() {
		t.Errorf("aibox did not end within %v", bootDeadline)
	}
	return <-read, s.cmd.ProcessState.ExitCode()
}

// shell boots a VM with a shell that takes one command after the other.
func (b *box) shell(change ...func(*run.Request)) *session {
	b.t.Helper()
	s := b.start("exec bash 2>&1", change...)
	if out, code := s.do(b.t, "true"); code != 0 {
		b.t.Fatalf("the shell does not work: %d, %s", code, out)
	}
	return s
}

// do runs a command line and returns its output, stderr included, and exit code.
func (s *session) do(t *testing.T, command string) (string, int) {
	t.Helper()
	limit := commandDeadline
	if s.n == 0 {
		limit = bootDeadline
	}
	s.n++
	mark := fmt.Sprintf("<<end %d ", s.n)
	if _, err := fmt.Fprintf(s.stdin, "( %s\n) </dev/null; printf '\\n%s%%d>>\\n' $?\n", command, mark); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	type result struct {
		out  string
		code int
		err  error
	}
	got := make(chan result, 1)
	go func() {
		var out strings.Builder
		for {
			line, err := s.stdout.ReadString('\n')
			if rest, found := strings.CutPrefix(line, mark); found {
				var code int
				_, err := fmt.Sscanf(rest, "%d>>", &code)
				got <- result{strings.TrimSuffix(out.String(), "\n"), code, err}
				return
			}
			out.WriteString(line)
			if err != nil {
				got <- result{out.String(), -1, err}
				return
			}
		}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			t.Fatalf("%s: the session ended: %v\noutput: %s\nstderr: %s", command, r.err, tail(r.out, 500), tail(s.stderr.String(), 500))
		}
		return r.out, r.code
	case <-time.After(limit):
		_ = s.cmd.Process.Kill()
		t.Fatalf("%s: no answer within %v", tail(command, 300), limit)
		return "", -1
	}
}

// must is do for a command that must succeed, such as a control.
func (s *session) must(t *testing.T, command string) string {
	t.Helper()
	out, code := s.do(t, command)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", command, code, out)
	}
	return out
}

// refused fails the test if the command, run as the VM's root, works.
func (s *session) refused(t *testing.T, command string) {
	t.Helper()
	if out, code := s.do(t, asRoot(command)); code == 0 {
		t.Errorf("it worked: %s\n%s", command, tail(out, 500))
	} else if code == 127 || code == 126 {
		t.Errorf("not tried: %s\n%s", command, tail(out, 500))
	}
}

// raw sends bytes to a port of the VM's loopback and returns what comes back.
func (s *session) raw(t *testing.T, port int, bytes string) string {
	t.Helper()
	return s.rawFor(t, port, "1500ms", bytes)
}

func (s *session) rawFor(t *testing.T, port int, silence, bytes string) string {
	t.Helper()
	name := filepath.Join(s.box.project, "request")
	if err := os.WriteFile(name, []byte(bytes), 0o644); err != nil {
		t.Fatal(err)
	}
	out := s.must(t, fmt.Sprintf("/project/attacker vm raw %d %s < request | base64 -w0", port, silence))
	answer, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out))
	if err != nil {
		t.Fatalf("answer %q: %v", out, err)
	}
	return string(answer)
}

// asRoot returns a command line that runs as the VM's root (test image only).
func asRoot(command string) string { return "/usr/lib/aibox-test/root bash -c " + quote(command) }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
