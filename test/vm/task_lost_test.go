//go:build vm

package vm

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aibox/internal/cli"
	"aibox/internal/task"
	"aibox/test/proclist"
)

// A VM that dies in the middle of a task takes the commits with it, but not what
// Claude Code printed up to then.
func TestTaskWhoseVMDies(t *testing.T) {
	for name, c := range map[string]struct {
		command string // of the VM
		kill    bool
		want    string
	}{
		"killed": {"sleep 1000", true, "the VM was killed: qemu ended with exit status 137, as after signal 9 (killed)"},
		"panic":  {asRoot("echo c > /proc/sysrq-trigger; kill -SEGV 1; kill -ABRT 1; sleep 1000"), false, "the VM gave up: Kernel panic"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTaskBox(t)
			before := digest(t, b.project)
			s := b.startTask(&scriptedAPI{commands: []string{"echo more >> a.txt; git commit -qam 'change a'; echo so''far", c.command}}, "die")
			s.until("turn 2, ")
			for _, p := range proclist.Below(t, s.cmd.Process.Pid) {
				if c.kill && strings.HasPrefix(p.Name, "qemu") {
					_ = syscall.Kill(p.PID, syscall.SIGKILL)
				}
			}
			if code := s.wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			s.keeps(c.want, "transcript.jsonl")
			transcript, err := os.ReadFile(filepath.Join(s.folder(), "transcript.jsonl"))
			if err != nil || !strings.Contains(string(transcript), "sofar") {
				t.Errorf("the transcript is %d bytes, %v:\n%s", len(transcript), err, tail(string(transcript), 2000))
			}
			r := s.record()
			if r.Finished || r.Tip != "" || r.Fetch != "" || r.VM != nil || !strings.Contains(r.Problem, c.want) {
				t.Errorf("record %+v", r)
			}
			if out, err := b.aibox("tasks", "list"); err != nil || !strings.Contains(out, r.ID) || !strings.Contains(out, "failed") {
				t.Errorf("tasks list: %v\n%s", err, out)
			}
			if after := digest(t, b.project); after != before {
				t.Error("the project changed")
			}
			noneLeft(t)
		})
	}
}

// keeps checks the report of a task that brought no commits back.
func (s *startedTask) keeps(problem, kept string) {
	s.t.Helper()
	stderr := s.stderr.String()
	checkLines(s.t, stderr)
	for _, want := range []string{"] " + problem, "; kept: " + s.folder() + " (" + kept, "] no commits came back\n"} {
		if !strings.Contains(stderr, want) {
			s.t.Errorf("stderr lacks %q", want)
		}
	}
	if n := strings.Count(stderr, problem); n != 1 {
		s.t.Errorf("the problem is told %d times", n)
	}
	if strings.Contains(stderr, "] finished") || strings.Contains(stderr, "review the changes") {
		s.t.Error("the task counts as finished")
	}
}

// What Claude Code did comes back from a disk that it filled.
func TestTaskOnAFullDisk(t *testing.T) {
	b := newTaskBox(t)
	b.config("disk: 1\nenv: [ANTHROPIC_API_KEY]\n")
	s := b.startTask(&scriptedAPI{commands: []string{
		"echo kept > k.txt; dd if=/dev/zero of=$HOME/big bs=1M 2>&1; df /project | tail -1",
	}, last: "the disk is full"}, "fill the disk")
	s.wait() // Claude Code may or may not live with it
	checkLines(t, s.stderr.String())
	r := s.record()
	if r.Tip == "" || r.VM == nil || !r.VM.Leftover {
		t.Fatalf("record %+v, %+v", r, r.VM)
	}
	b.fetch(r)
	if got := b.git("show", "aibox/"+r.ID+":k.txt"); got != "kept" {
		t.Errorf("the file is %q", got)
	}
}

// taskOnSmallDisk starts a task whose ~/.aibox is a disk of the given size. Its
// folder goes with the disk, so what was kept is copied to the home.
func (b *box) taskOnSmallDisk(size, before string, api *scriptedAPI) *startedTask {
	b.t.Helper()
	script := `config=$("$0" config path); mkdir -p "$(dirname "$config")"; echo 'env: [ANTHROPIC_API_KEY]' > "$config"; ` + before + `
"$0" ` + cli.UpstreamCommand + ` task --image "$1" "fill the disk"; code=$?
cp ~/.aibox/projects/*/tasks/*/transcript.jsonl ~/.aibox/projects/*/tasks/*/result.json ~ 2>/dev/null
exit $code`
	if err := os.RemoveAll(filepath.Join(b.home, ".aibox")); err != nil {
		b.t.Fatal(err)
	}
	return b.startTaskBy(api, b.onSmallDisk(size, script))
}

func TestTaskOnAHostDiskThatGetsFull(t *testing.T) {
	for name, c := range map[string]struct {
		size, before string
		commands     []string
		outside      bool // what fills the disk is not the VM
	}{
		"by the VM": {"24M", "", []string{
			"echo so''far; echo more >> a.txt; git commit -qam 'change a'", "head -c 60M /dev/urandom > big; sync; git add big; git commit -m big; cat big | head -c 100000 | base64",
		}, false},
		"by another program": {"64M", `mkfifo ~/go; { read x < ~/go; cat /dev/zero > ~/.aibox/fill; } 2>/dev/null & `, []string{
			"echo so''far", "sleep 5; echo more >> a.txt; git commit -qam 'change a'; head -c 50000 /dev/urandom | base64 -w0 | head -c 20000", "head -c 3M /dev/urandom > big; sync; git add big; git commit -m big",
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTaskBox(t)
			before := digest(t, b.project)
			s := b.taskOnSmallDisk(c.size, c.before, &scriptedAPI{commands: c.commands, last: "full"})
			if c.outside {
				s.until("turn 2, ")
				if err := exec.Command("sh", "-c", `echo > "$0"/go`, b.home).Run(); err != nil {
					t.Fatal(err)
				}
			}
			if code := s.wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			s.keeps("the results could not all be stored: transcript.jsonl: no space left on device", "transcript.jsonl")
			if !strings.Contains(s.stderr.String(), "] hint: free some space: df -h ") {
				t.Error("there is no hint")
			}
			transcript, err := os.ReadFile(filepath.Join(b.home, "transcript.jsonl"))
			if err != nil || !strings.Contains(string(transcript), "sofar") {
				t.Errorf("the transcript is %d bytes, %v", len(transcript), err)
			}
			var r task.Record
			if text, err := os.ReadFile(filepath.Join(b.home, "result.json")); err != nil || json.Unmarshal(text, &r) != nil || r.Finished || r.Problem == "" || r.VM == nil {
				t.Errorf("result.json: %v\n%s", err, text)
			}
			if after := digest(t, b.project); after != before {
				t.Error("the project changed")
			}
			noneLeft(t)
		})
	}
}

// A disk that is full before the VM starts: one line, one hint, exit code 1.
func TestTaskOnAHostDiskThatIsFull(t *testing.T) {
	for leave, what := range map[int]string{0: "its folder", 128: "the pack", 900: "the VM's disk"} {
		t.Run(what, func(t *testing.T) {
			b := newTaskBox(t)
			big := make([]byte, 400<<10)
			_, _ = rand.Read(big) // never fails
			b.file("big", string(big))
			b.git("add", ".")
			b.git("commit", "--quiet", "-m", "big")
			before := digest(t, b.project)
			s := b.taskOnSmallDisk("4M", fill(leave), &scriptedAPI{})
			if code := s.wait(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			stderr := strings.ToLower(s.stderr.String())
			if strings.Count(stderr, "no space left on device") != 1 || strings.Count(stderr, "hint: free some space: df -h ") != 1 {
				t.Error("the user does not read one line and one hint")
			}
			if after := digest(t, b.project); after != before {
				t.Error("the project changed")
			}
			noneLeft(t)
		})
	}
}
