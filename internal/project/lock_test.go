//go:build unix

package project

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"aibox/internal/fault"
)

// holder starts another process that holds the run's lock until it is killed.
func holder(t *testing.T, k Kept) (pid int, kill func()) {
	t.Helper()
	cmd := child(t, openDir(t))
	cmd.Args = []string{cmd.Path}
	cmd.Env = append(os.Environ(), holdVariable+"="+k.Dir)
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	return cmd.Process.Pid, kill
}

// holdVariable names a project's folder to the test binary that plays a run.
const holdVariable = "AIBOX_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		hold(dir)
	}
	os.Exit(m.Run())
}

// hold is the other process of holder. It ends when its parent kills it.
func hold(dir string) {
	if _, err := (Kept{Dir: dir, Project: "/p"}).LockRun(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("locked")
	select {}
}

func TestSecondRunIsRefused(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	pid, kill := holder(t, k)
	_, err := k.LockRun()
	refused(t, "run", err, fault.Refused, fmt.Sprintf("aibox is running for %q already (process %d)", w.project, pid))
	if got, running := k.Running(); !running || got != pid {
		t.Errorf("Running = %d, %v, want %d", got, running, pid)
	}
	refused(t, "reset", k.Reset(context.Background(), false), fault.Refused, "is running")
	refused(t, "remove", k.Remove(context.Background()), fault.Refused, "is running")

	kill() // as any end of a process, SIGKILL frees the lock
	lock, err := k.LockRun()
	must(t, err)
	if got := readPID(filepath.Join(k.Dir, runLockName)); got != os.Getpid() {
		t.Errorf("the lock names process %d, want %d", got, os.Getpid())
	}
	lock.Release()
	if pid, running := k.Running(); running {
		t.Errorf("still running: %d", pid)
	}
}

func TestTasksShareTheirLock(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	one, err := k.LockTask()
	must(t, err)
	two, err := k.LockTask()
	must(t, err)
	run, err := k.LockRun()
	must(t, err)
	if pid, running := k.Running(); !running || pid != os.Getpid() {
		t.Errorf("a run beside tasks: %v, process %d", running, pid)
	}
	run.Release()
	one.Release()
	_, err = k.LockAll()
	refused(t, "all", err, fault.Refused, "a task of")
	if _, running := k.Running(); !running {
		t.Error("a task does not count as running")
	}
	two.Release()
	all, err := k.LockAll()
	must(t, err)
	all.Release()
}

func TestRunningCreatesNothing(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	if _, running := k.Running(); running {
		t.Error("running without a lock")
	}
	if _, err := os.Lstat(filepath.Join(k.Dir, runLockName)); err == nil {
		t.Error("Running created the lock, which would look like a run")
	}
}

func TestLockRefusesALink(t *testing.T) {
	w := newWorld(t)
	k := w.kept(t)
	target := filepath.Join(w.project, "target")
	must(t, os.WriteFile(target, []byte("text"), 0o600), os.Symlink(target, filepath.Join(k.Dir, runLockName)))
	if _, err := k.LockRun(); err == nil {
		t.Error("a link was taken for a lock")
	}
	if text, _ := os.ReadFile(target); string(text) != "text" {
		t.Errorf("the link's target was written: %q", text)
	}
}
