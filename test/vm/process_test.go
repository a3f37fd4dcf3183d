//go:build vm

package vm

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aibox/internal/run"
	"aibox/test/proclist"
)

// machines lists the processes of aibox, QEMU, virtiofsd and bubblewrap.
func machines(t *testing.T) []proclist.Process {
	t.Helper()
	var found []proclist.Process
	for _, p := range proclist.All(t) {
		for _, name := range []string{"aibox", "qemu", "virtiofsd", "bwrap", "ld-linux"} {
			if strings.HasPrefix(p.Name, name) {
				found = append(found, p)
			}
		}
	}
	return found
}

const (
	// killTime is how long what a killed aibox leaves may live.
	killTime = time.Second
	// endTime is how long what a run leaves may take to end on a busy machine.
	endTime = 10 * time.Second
)

// noneLeft fails if processes of a VM live on.
func noneLeft(t *testing.T) {
	t.Helper()
	noneWithin(t, endTime)
}

// noneWithin fails if processes of a VM are left after the time.
func noneWithin(t *testing.T, limit time.Duration) {
	t.Helper()
	for start := time.Now(); ; {
		left := machines(t)
		if len(left) == 0 {
			return
		}
		if time.Since(start) > limit {
			t.Fatalf("left after %v: %v", limit, left)
		}
		time.Sleep(10 * time.Millisecond) // polls /proc, which announces nothing
	}
}

// mounts are those of this machine, but for other people's builds of an image.
func mounts(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var own strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "/tmp/mmdebstrap.") {
			own.WriteString(line)
		}
	}
	return own.String()
}

// temporary are this user's temporary files of aibox.
func temporary(t *testing.T) string {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(os.TempDir(), "*aibox*"))
	if err != nil {
		t.Fatal(err)
	}
	entries = slices.DeleteFunc(entries, func(path string) bool {
		fi, err := os.Lstat(path)
		return err != nil || int(fi.Sys().(*syscall.Stat_t).Uid) != os.Getuid()
	})
	return strings.Join(entries, "\n")
}

func TestTwentyRunsLeaveNothing(t *testing.T) {
	b := newBox(t)
	noneLeft(t)
	mountsBefore, filesBefore := mounts(t), temporary(t)
	for range 20 {
		b.mustRun("true")
	}
	noneLeft(t)
	if after := mounts(t); after != mountsBefore {
		t.Errorf("mounts after:\n%s\nbefore:\n%s", after, mountsBefore)
	}
	if after := temporary(t); after != filesBefore {
		t.Errorf("temporary files after:\n%s\nbefore:\n%s", after, filesBefore)
	}
	entries, err := os.ReadDir(b.project)
	if err != nil || len(entries) != 0 {
		t.Errorf("the project holds %v, %v", entries, err)
	}
}

func TestKilledAiboxLeavesNothing(t *testing.T) {
	b := newBox(t)
	s := b.shell()
	s.must("sync; true")
	if len(machines(t)) < 3 {
		t.Fatalf("only %v run", machines(t))
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	noneWithin(t, killTime)
	b.mustRun("true")
}

func TestSecondRunIsRefusedByName(t *testing.T) {
	b := newBox(t)
	s := b.shell()
	s.must("true")
	second := b.start("true")
	if _, code := second.wait(); code == 0 {
		t.Error("a second run of one project was accepted")
	}
	if want := strconv.Itoa(s.cmd.Process.Pid); !strings.Contains(second.stderr.String(), want) {
		t.Errorf("the refusal is %q, want the process id %s in it", second.stderr.String(), want)
	}
}

func TestHostileChildrenDoNotStopThePowerOff(t *testing.T) {
	b := newBox(t)
	s := b.start(`trap '' TERM HUP INT; bomb() { bomb | bomb & }; echo bombing; while :; do bomb; done 2>/dev/null`,
		func(r *run.Request) { r.Memory = 512 })
	if line, err := s.stdout.ReadString('\n'); line != "bombing\n" {
		t.Fatalf("the session printed %q, %v", line, err)
	}
	time.Sleep(3 * time.Second) // the bomb needs some time to reach the limit
	start := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.wait()
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the end took %v", took)
	}
	noneLeft(t)
}

// TestProgramsOfTheProjectAreNotStarted has in PATH a folder of the project, as
// direnv puts it there, and programs in it that an earlier VM could have left.
func TestProgramsOfTheProjectAreNotStarted(t *testing.T) {
	b := newUser(t)
	b.config("git:\n- remote: git.example/a/b\n  fetch: true\n")
	bin := filepath.Join(b.project, "node_modules", ".bin")
	taken := filepath.Join(b.home, "taken")
	for _, name := range []string{"git", "ssh", "bwrap", "qemu-system-x86_64", "virtiofsd", "xclip", "wl-paste", "timedatectl"} {
		path := filepath.Join(bin, name)
		b.write(path, "#!/bin/sh\necho "+name+" >>"+taken+"\nPATH=${PATH#*:} exec "+name+" \"$@\"\n")
		b.must(os.Chmod(path, 0o700))
	}
	for i, v := range b.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			b.env[i] = "PATH=" + bin + string(filepath.ListSeparator) + path
		}
	}
	_, _ = b.aibox("doctor") // that it lacks an image is no matter
	if _, code := b.run("true"); code != 0 {
		t.Errorf("the run ended with %d", code)
	}
	if names, err := os.ReadFile(taken); err == nil {
		t.Errorf("programs of the project were started on the host: %q", names)
	}
}
