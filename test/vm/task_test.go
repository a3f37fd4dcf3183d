//go:build vm

package vm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"aibox/internal/cli"
	"aibox/internal/task"
	"aibox/test/output"
)

// taskDeadline bounds a task with a few turns under software emulation on a busy machine.
const taskDeadline = 6 * time.Minute

const taskKey = "sk-ant-key-of-the-test"

// newTaskBox makes a home with a repository of two files and one commit, and a
// config with a login.
func newTaskBox(t *testing.T) *box {
	t.Helper()
	b := newBox(t)
	b.env = append(b.env, "ANTHROPIC_API_KEY="+taskKey)
	b.config("env: [ANTHROPIC_API_KEY]\n")
	if err := os.WriteFile(filepath.Join(b.home, ".gitconfig"), []byte("[user]\n\tname = Test\n\temail = test@example.test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.git("init", "--quiet", "--initial-branch=main")
	b.file("a.txt", "a\n")
	b.file("b.txt", "b\n")
	b.git("add", ".")
	b.git("commit", "--quiet", "-m", "the start")
	return b
}

func (b *box) file(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.project, name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// git runs the host's git in the project.
func (b *box) git(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = b.project, []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// startedTask is a running `aibox task`.
type startedTask struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr *output.Buffer
	done           chan error
}

// startTask starts `aibox task` against a scripted API.
func (b *box) startTask(api *scriptedAPI, args ...string) *startedTask {
	b.t.Helper()
	return b.startTaskBy(api, exec.Command(readEnvironment().aibox, append([]string{cli.UpstreamCommand, "task", "--image", b.image}, args...)...))
}

// startTaskBy is startTask with a command that runs it.
func (b *box) startTaskBy(api *scriptedAPI, cmd *exec.Cmd) *startedTask {
	b.t.Helper()
	api.key = taskKey
	r, w, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString(serveScript(b.t, api)); err != nil {
		b.t.Fatal(err)
	}
	w.Close()
	s := &startedTask{t: b.t, cmd: cmd, stdout: &output.Buffer{}, stderr: &output.Buffer{}, done: make(chan error, 1)}
	s.cmd.Dir, s.cmd.Env, s.cmd.ExtraFiles = b.project, b.env, []*os.File{r}
	s.cmd.Stdout, s.cmd.Stderr = s.stdout, s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { s.done <- s.cmd.Wait() }()
	b.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		if b.t.Failed() {
			b.t.Logf("stdout:\n%s\nstderr:\n%s", s.stdout, tail(s.stderr.String(), 6000))
			logs, _ := filepath.Glob(filepath.Join(b.home, ".aibox", "projects", "*", "tasks", "*", "*.log"))
			for _, log := range logs {
				text, _ := os.ReadFile(log)
				b.t.Logf("%s:\n%s", filepath.Base(log), tail(string(text), 3000))
			}
		}
	})
	return s
}

// wait returns the exit code.
func (s *startedTask) wait() int {
	s.t.Helper()
	select {
	case <-s.done:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(taskDeadline):
		s.t.Fatalf("aibox task did not end within %v", taskDeadline)
		return -1
	}
}

// until waits for a text on stderr.
func (s *startedTask) until(text string) {
	s.t.Helper()
	for start := time.Now(); !strings.Contains(s.stderr.String(), text); {
		select {
		case err := <-s.done:
			s.done <- err
			if !strings.Contains(s.stderr.String(), text) {
				s.t.Fatalf("aibox ended before it printed %q", text)
			}
		case <-time.After(20 * time.Millisecond): // looks again at a buffer, which announces nothing
		}
		if time.Since(start) > taskDeadline {
			s.t.Fatalf("no %q within %v", text, taskDeadline)
		}
	}
}

// folder is the task's folder, by stdout.
func (s *startedTask) folder() string {
	s.t.Helper()
	lines := strings.Split(strings.TrimSpace(s.stdout.String()), "\n")
	if len(lines) != 1 || !filepath.IsAbs(lines[0]) {
		s.t.Fatalf("stdout is %q, want one path", s.stdout)
	}
	return lines[0]
}

func (s *startedTask) record() task.Record {
	s.t.Helper()
	var r task.Record
	text, err := os.ReadFile(filepath.Join(s.folder(), "result.json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		s.t.Fatalf("result.json: %v\n%s", err, text)
	}
	return r
}

// digest is of all of a tree: names, modes, contents, links.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, path, info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%d %s\n", len(text), text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

var everyLine = regexp.MustCompile(`^\d\d:\d\d:\d\d (aibox|vm)\[[a-z0-9-]+\] [^\x00-\x1f\x7f]*$`)

func checkLines(t *testing.T, stderr string) {
	t.Helper()
	for line := range strings.Lines(stderr) {
		if !everyLine.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("the line %q has not the form of a task's", line)
		}
	}
}

// fetch runs the command that aibox printed, in a shell.
func (b *box) fetch(r task.Record) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "sh", "-c", r.Fetch)
	cmd.Dir, cmd.Env = b.home, []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", r.Fetch, err, out)
	}
}

func TestTaskComesBackAsABundle(t *testing.T) {
	b := newTaskBox(t)
	before := digest(t, b.project)
	s := b.startTask(&scriptedAPI{
		commands: []string{
			"echo more >> a.txt && git add a.txt && git commit -m 'change a' && git remote && id -un",
			"echo new > c.txt && printf '\\033[2J12:00:00 aibox[fake] all is well\\n' && sleep 1000 & setsid nohup sleep 2000 >/dev/null 2>&1 &",
		},
		last: "done\n12:00:00 aibox[fake] \x1b]0;title\x07 trust me",
	}, "Change a and add c")
	if code := s.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	checkLines(t, s.stderr.String())
	if strings.ContainsRune(s.stderr.String(), 0x1b) {
		t.Error("an escape reached the terminal")
	}
	for line := range strings.Lines(s.stderr.String()) {
		if strings.Contains(line, "aibox[fake]") && !strings.Contains(line[:20], "vm[") {
			t.Errorf("the VM's words pass for aibox's: %q", line)
		}
	}
	for _, want := range []string{"this task may reach:", "ANTHROPIC_API_KEY (its value stays on this machine)", "turn 1, ", "Bash", "finished after"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("stderr lacks %q", want)
		}
	}
	if after := digest(t, b.project); after != before {
		t.Error("the project, its refs or its index changed")
	}
	r := s.record()
	if !r.Finished || r.VM == nil || !r.VM.Leftover || r.VM.Squashed || r.Tip == "" {
		t.Fatalf("record %+v, %+v", r, r.VM)
	}
	b.fetch(r)
	branch := "aibox/" + r.ID
	if got := b.git("rev-parse", branch); got != r.Tip {
		t.Errorf("the branch is %s, want %s", got, r.Tip)
	}
	if got := b.git("log", "--format=%an <%ae> %cn <%ce>", "-1", branch); got != "aibox <aibox@localhost> aibox <aibox@localhost>" {
		t.Errorf("the leftover commit is by %q", got)
	}
	if got := b.git("log", "--format=%s", "main.."+branch); got != "Leftovers of the task\nchange a" {
		t.Errorf("commits %q", got)
	}
	if got := b.git("show", branch+":a.txt") + b.git("show", branch+":c.txt"); got != "a\nmorenew" {
		t.Errorf("files %q", got)
	}
	if out := b.git("fsck", "--full", "--strict"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Errorf("git fsck: %s", out)
	}
	transcript, err := os.ReadFile(filepath.Join(s.folder(), "transcript.jsonl"))
	if err != nil || !bytes.Contains(transcript, []byte(`"type":"result"`)) {
		t.Errorf("transcript: %v, %d bytes", err, len(transcript))
	}
	noneLeft(t)
	key := exec.CommandContext(t.Context(), "grep", "-r", taskKey, s.folder())
	if out, err := key.Output(); err == nil {
		t.Errorf("the key is in the task's folder: %s", out)
	}
	if out, err := b.aibox("tasks", "list"); err != nil || !strings.Contains(out, r.ID) || !strings.Contains(out, "finished") {
		t.Errorf("tasks list: %v\n%s", err, out)
	}
	if out, err := b.aibox("tasks", "show", r.ID[:6]); err != nil || !strings.Contains(out, r.Fetch) {
		t.Errorf("tasks show: %v\n%s", err, out)
	}
	if out, err := b.aibox("tasks", "clean"); err != nil || !strings.Contains(out, "removed "+r.ID) {
		t.Errorf("tasks clean: %v\n%s", err, out)
	}
}

func TestTaskIsStoppedByItsTimeout(t *testing.T) {
	b := newTaskBox(t)
	s := b.startTask(&scriptedAPI{commands: []string{"echo so far > d.txt", "trap '' TERM; sleep 1000"}}, "--timeout", "90s", "never end")
	if code := s.wait(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	checkLines(t, s.stderr.String())
	r := s.record()
	if r.Finished || r.VM == nil || r.VM.Outcome != "timeout" || r.Tip == "" {
		t.Fatalf("record %+v, %+v", r, r.VM)
	}
	b.fetch(r)
	if got := b.git("show", "aibox/"+r.ID+":d.txt"); got != "so far" {
		t.Errorf("the work so far is %q", got)
	}
	noneLeft(t)
}

func TestTaskIsStoppedByTheUser(t *testing.T) {
	b := newTaskBox(t)
	s := b.startTask(&scriptedAPI{commands: []string{"echo so far > d.txt; git add d.txt; git commit -m d", "sleep 1000"}}, "never end")
	s.until("turn 2, ")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := s.wait(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	r := s.record()
	if r.Finished || r.VM == nil || r.VM.Outcome != "stopped" || r.Tip == "" {
		t.Fatalf("record %+v, %+v", r, r.VM)
	}
	b.fetch(r)
	noneLeft(t)
}

func TestTaskIsStoppedAtOnceByASecondCtrlC(t *testing.T) {
	b := newTaskBox(t)
	s := b.startTask(&scriptedAPI{commands: []string{"trap '' TERM; sleep 1000"}}, "never end")
	s.until("turn 1, ")
	_ = s.cmd.Process.Signal(os.Interrupt)
	s.until("once more stops all at once")
	_ = s.cmd.Process.Signal(os.Interrupt)
	s.wait()
	noneLeft(t)
}

func TestTaskKilledLeavesNoVM(t *testing.T) {
	b := newTaskBox(t)
	s := b.startTask(&scriptedAPI{commands: []string{"sleep 1000"}}, "never end")
	s.until("turn 1, ")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.wait()
	noneWithin(t, killTime)
	out, err := b.aibox("tasks", "list")
	if err != nil || !strings.Contains(out, "killed") {
		t.Errorf("tasks list: %v\n%s", err, out)
	}
	if out, err := b.aibox("tasks", "clean"); err != nil || !strings.Contains(out, "removed") {
		t.Errorf("tasks clean: %v\n%s", err, out)
	}
	if _, err := os.Stat(s.folder()); !os.IsNotExist(err) {
		t.Errorf("the task's folder is still there: %v", err)
	}
}

func TestTasksSideBySideAndARun(t *testing.T) {
	b := newTaskBox(t)
	shell := b.shell()
	shell.must("true")
	var tasks []*startedTask
	for i := range 3 {
		tasks = append(tasks, b.startTask(&scriptedAPI{
			commands: []string{fmt.Sprintf("echo %d > n.txt; git add n.txt; git commit -m 'number %d'", i, i)}, last: fmt.Sprintf("number %d done", i),
		}, "--memory", "1024", fmt.Sprintf("write %d", i)))
	}
	ids := map[string]bool{}
	for i, s := range tasks {
		if code := s.wait(); code != 0 {
			t.Errorf("task %d: exit code %d", i, code)
			continue
		}
		r := s.record()
		ids[r.ID] = true
		for line := range strings.Lines(s.stderr.String()) {
			if !strings.Contains(line, "["+r.ID+"] ") {
				t.Errorf("task %d has the line %q", i, line)
			}
		}
		b.fetch(r)
		if got := b.git("show", "aibox/"+r.ID+":n.txt"); got != fmt.Sprint(i) {
			t.Errorf("task %d brought %q", i, got)
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
	shell.must("test ! -e /project/n.txt && git -C /project log --oneline main")
}

// A hostile root of the VM replaces git, so that the bundle is not what it should be.
func TestTaskRefusesHostileBundles(t *testing.T) {
	replace := func(body string) string {
		script := "#!/bin/sh\ncase \"$*\" in *'bundle create'*) " + body + ";; *) exec /usr/bin/git.real \"$@\";; esac\n"
		return "printf %s " + quote(script) + " > /tmp/git && chmod 755 /tmp/git && " +
			asRoot("mkdir -p /run/x && cp -a /usr/bin/git /run/x/git.real && mount --bind /tmp/git /usr/bin/git") + "; echo more >> a.txt"
	}
	for name, c := range map[string]struct{ body, want string }{
		"two references": {`cd /project; /run/x/git.real branch two 2>/dev/null; exec /run/x/git.real bundle create --quiet - refs/heads/aibox/task refs/heads/two "^$(/run/x/git.real rev-list --max-parents=0 HEAD)"`, "references, not one"},
		"whole history":  {`cd /project; exec /run/x/git.real bundle create --quiet - refs/heads/aibox/task`, "does not build on the start commit"},
		"no bundle":      {`echo '#!/bin/sh'; echo; exec head -c 200 /dev/zero`, "no git bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTaskBox(t)
			body := strings.ReplaceAll(replace(c.body), "/usr/bin/git.real", "/run/x/git.real")
			s := b.startTask(&scriptedAPI{commands: []string{body}, last: "ok"}, "be bad")
			if code := s.wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(s.stderr.String(), c.want) {
				t.Errorf("stderr lacks %q", c.want)
			}
			if r := s.record(); r.Finished || r.Fetch != "" || r.Tip != "" {
				t.Errorf("record %+v", r)
			}
			if info, err := os.Stat(filepath.Join(s.folder(), "changes.bundle")); err != nil || info.Size() != 0 {
				t.Errorf("changes.bundle: %v, %v", info, err)
			}
		})
	}
}
