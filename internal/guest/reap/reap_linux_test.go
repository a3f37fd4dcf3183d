package reap

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The reaper takes every child of its process, so each test runs in a copy of
// the test binary, where nothing else starts processes.
const role = "AIBOX_REAP_TEST"

func inSubprocess(t *testing.T, body func(t *testing.T, r *Reaper)) {
	t.Helper()
	if os.Getenv(role) == t.Name() {
		r := New()
		go r.Run(nil)
		body(t, r)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), role+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func sh(r *Reaper, script string) (*Child, error) {
	return r.Start("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{Env: []string{}, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true}})
}

// Children that end before Start returns are the race that matters.
func TestEveryStatusArrives(t *testing.T) {
	inSubprocess(t, func(t *testing.T, r *Reaper) {
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := range 60 {
					want := (worker*60 + i) % 250
					c, err := r.Start("/bin/sh", []string{"sh", "-c", "exit " + strconv.Itoa(want)}, &syscall.ProcAttr{})
					if err != nil {
						t.Error(err)
						return
					}
					select {
					case <-c.Done():
						if got := c.Status().ExitStatus(); got != want {
							t.Errorf("exit status %d, want %d", got, want)
						}
					case <-time.After(20 * time.Second):
						t.Error("a status never arrived")
						return
					}
				}
			})
			all.Go(func() {
				for range 60 {
					if _, err := r.Start("/does/not/exist", nil, &syscall.ProcAttr{}); !errors.Is(err, os.ErrNotExist) {
						t.Errorf("Start of nothing = %v", err)
					}
				}
			})
		}
		all.Wait()
		if len(r.children) != 0 {
			t.Errorf("%d children are still registered", len(r.children))
		}
	})
}

func TestOrphansAreReaped(t *testing.T) {
	inSubprocess(t, func(t *testing.T, r *Reaper) {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "pids")
		c, err := sh(r, fmt.Sprintf("for i in 1 2 3 4 5 6 7 8; do (sleep 0.1; exit 3) & echo $! >>%s; done", out))
		if err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		pids := strings.Fields(string(b))
		if len(pids) != 8 {
			t.Fatalf("%d orphans, want 8", len(pids))
		}
		deadline := time.Now().Add(20 * time.Second)
		for _, s := range pids {
			pid, _ := strconv.Atoi(s)
			for syscall.Kill(pid, 0) == nil {
				if time.Now().After(deadline) {
					t.Fatalf("orphan %d is still there", pid)
				}
				time.Sleep(time.Millisecond)
			}
		}
	})
}

func TestSignals(t *testing.T) {
	inSubprocess(t, func(t *testing.T, r *Reaper) {
		c, err := sh(r, "sleep 60 & wait")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SignalGroup(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		if s := c.Status(); !s.Signaled() || s.Signal() != syscall.SIGKILL {
			t.Errorf("status = %v, want killed", s)
		}
		for _, send := range []func(syscall.Signal) error{c.Signal, c.SignalGroup} {
			if err := send(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("signal to a reaped child = %v", err)
			}
		}
	})
}

func TestOutput(t *testing.T) {
	inSubprocess(t, func(t *testing.T, r *Reaper) {
		code, out, err := r.Output(20*time.Second, "/bin/sh", "-c", "echo out; echo err >&2; env; cat; exit 7")
		if code != 7 || err != nil || !strings.HasPrefix(out, "out\nerr\n") || strings.Contains(out, role) {
			t.Errorf("Output = %d, %q, %v", code, out, err)
		}
		_, out, err = r.Output(20*time.Second, "/bin/sh", "-c", "yes | head -c 1000000; echo end")
		if err != nil || len(out) > maxOutput || !strings.HasSuffix(out, "\nend\n") {
			t.Errorf("long output: %d bytes, %v", len(out), err)
		}
		if _, _, err := r.Output(50*time.Millisecond, "/bin/sh", "-c", "sleep 60 | cat"); !errors.Is(err, ErrTimeout) {
			t.Errorf("slow program: %v", err)
		}
		if _, _, err := r.Output(20*time.Second, "/bin/sh", "-c", "kill -9 $$"); err == nil {
			t.Error("a killed program is no error")
		}
	})
}
