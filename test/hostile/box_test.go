//go:build hostile

package hostile

import (
	"bufio"
	"encoding/json"
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

// commandDeadline bounds a command in a VM that has booted.
const commandDeadline = 50 * time.Second

// box is a user of aibox: a home, a project folder, and the program.
type box struct {
	t             *testing.T
	home, project string
	env           []string
	reported      bool
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
	stderr *output.Buffer
	ended  chan struct{}
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
	s := &session{t: b.t, box: b, stderr: &output.Buffer{}, ended: make(chan struct{})}
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
	if b.reported {
		return // the logs are the last run's
	}
	b.reported = true
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

// order and answer are the attacker's, see test/hostile/attacker.
type order struct {
	Shell   string
	Root    bool
	Port    int
	Send    []byte
	Silence time.Duration
}

type answer struct {
	Out  []byte
	Code int
}

// shell boots a VM in which the attacker takes one order after the other as root.
func (b *box) shell(t *testing.T, change ...func(*run.Request)) *session {
	t.Helper()
	s := b.start("exec /usr/lib/aibox-test/root /project/attacker vm serve $(id -u)", change...)
	if got := s.order(t, order{Shell: "id -u", Root: true}, bootDeadline); strings.TrimSpace(string(got.Out)) != "0" {
		t.Fatalf("the attacker is no root: %d, %s", got.Code, got.Out)
	}
	return s
}

// order has the attacker in the VM do something.
func (s *session) order(t *testing.T, o order, limit time.Duration) answer {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.stdin.Write(append(text, '\n')); err != nil {
		t.Fatalf("%s: %v", tail(o.Shell, 300), err)
	}
	type result struct {
		answer answer
		err    error
	}
	got := make(chan result, 1)
	go func() {
		line, err := s.stdout.ReadBytes('\n')
		var r result
		if r.err = err; err == nil {
			r.err = json.Unmarshal(line, &r.answer)
		}
		got <- r
	}()
	select {
	case r := <-got:
		if r.err != nil {
			t.Fatalf("%s: the session ended: %v\nstderr: %s", tail(o.Shell, 300), r.err, tail(s.stderr.String(), 500))
		}
		return r.answer
	case <-time.After(limit):
		_ = s.cmd.Process.Kill()
		t.Fatalf("%s: no answer within %v", tail(o.Shell, 300), limit)
		return answer{}
	}
}

// do runs a command line and returns its output, stderr included, and exit code.
func (s *session) do(t *testing.T, command string) (string, int) {
	t.Helper()
	command, root := strings.CutPrefix(command, rootMark)
	got := s.order(t, order{Shell: command, Root: root}, commandDeadline)
	return strings.TrimSuffix(string(got.Out), "\n"), got.Code
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
	got := s.order(t, order{Port: port, Send: []byte(bytes), Silence: 1500 * time.Millisecond}, commandDeadline)
	if got.Code != 0 {
		t.Fatalf("port %d of the VM: %s", port, got.Out)
	}
	return string(got.Out)
}

// rootMark stands before a command line that runs as the VM's root.
const rootMark = "#root\n"

func asRoot(command string) string { return rootMark + command }
