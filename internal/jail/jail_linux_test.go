package jail

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func needKernel(t *testing.T) {
	t.Helper()
	if _, err := Check(Policy{DNS: true}); err != nil {
		t.Skipf("this kernel enforces too little: %v", err)
	}
}

func namesOf(actions []action) []string {
	var names []string
	for _, a := range actions {
		names = append(names, a.name)
	}
	return names
}

// TestForbidden: each thing works without a policy and is refused under it.
func TestForbidden(t *testing.T) {
	needKernel(t)
	s := newScene(t)
	s.Actions = namesOf(forbidden())
	free := play(t, s)

	s = newScene(t) // what the first victim changed is as it was
	s.Actions, s.Confined = namesOf(forbidden()), true
	confined := play(t, s)
	for _, name := range s.Actions {
		if r := confined[name]; !r.Refused {
			t.Errorf("%s: %q, want it refused", name, r.Err)
		}
		if r := free[name]; r.Lacking {
			t.Logf("%s: this machine does not have it: %s", name, r.Err)
		} else if r.Err != "" {
			t.Errorf("%s without a policy: %s", name, r.Err)
		}
	}
}

// TestAllowed: what aibox does works with and without the policy.
func TestAllowed(t *testing.T) {
	needKernel(t)
	for _, confined := range []bool{false, true} {
		t.Run(fmt.Sprintf("confined=%v", confined), func(t *testing.T) {
			s := newScene(t)
			s.Actions, s.Confined = namesOf(allowed()), confined
			for name, r := range play(t, s) {
				if r.Err != "" {
					t.Errorf("%s: %s", name, r.Err)
				}
			}
			if log, err := os.ReadFile(filepath.Join(s.Dir, "log")); err != nil || string(log) != "a line\n" {
				t.Errorf("log holds %q, %v", log, err)
			}
		})
	}
}

// TestLethal: each of these calls ends the process at once.
func TestLethal(t *testing.T) {
	needKernel(t)
	s := newScene(t)
	for name := range lethalCalls() {
		s.Actions = append(s.Actions, name)
	}
	for name, r := range play(t, s) {
		if !strings.HasPrefix(r.Err, "survived") {
			t.Errorf("%s without a policy: %s", name, r.Err)
		}
	}
	s.Confined = true
	for _, name := range s.Actions {
		t.Run(name, func(t *testing.T) {
			s := s
			s.Actions = []string{name}
			p := start(t, s)
			p.in.Close()
			if r := p.next(t); r != nil {
				t.Errorf("victim lives: %s", r.Err)
			}
			_ = p.Wait()
			if w := p.ProcessState.Sys().(syscall.WaitStatus); w.Signal() != syscall.SIGSYS {
				t.Errorf("victim ended with %v, want SIGSYS: %s", p.ProcessState, p.stderr)
			}
		})
	}
}

// TestAllThreads reads what the kernel says of each thread of a confined victim.
func TestAllThreads(t *testing.T) {
	needKernel(t)
	s := newScene(t)
	s.Confined, s.Hold, s.Actions = true, true, []string{"start threads"}
	p := start(t, s)
	if r := p.next(t); r == nil || r.Err != "" {
		t.Fatalf("victim: %v: %s", r, p.stderr)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.Process.Pid))
	if err != nil || len(threads) < 7 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	for _, status := range threads {
		text, err := os.ReadFile(status)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the thread has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", status, want)
			}
		}
	}
	if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Process.Pid)); err == nil && os.Getuid() != 0 {
		t.Error("the user's other processes can read the confined one")
	}
}

// TestDeath: a child that was started before the policy still ends with its
// parent.
func TestDeath(t *testing.T) {
	needKernel(t)
	if !childDies(t, false, 5*time.Second) {
		t.Error("the child outlived its parent")
	}
	// Landlock's limit on signals would let it live, which is why a policy for a
	// process with children goes without. Should this change, it could go with.
	if childDies(t, true, 500*time.Millisecond) {
		t.Log("on this kernel a limit on signals lets parent-death signals pass")
	}
}

func childDies(t *testing.T, alone bool, patience time.Duration) bool {
	t.Helper()
	s := newScene(t)
	s.Confined, s.Hold, s.Actions = true, true, []string{"read names files"}
	s.Policy.Alone = alone
	p := start(t, s)
	if r := p.next(t); r == nil || r.Err != "" {
		t.Fatalf("victim: %v: %s", r, p.stderr)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	if err := p.life.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err := p.life.Read(make([]byte, 1))
	return err == io.EOF
}
