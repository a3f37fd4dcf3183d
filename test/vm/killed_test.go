//go:build vm

package vm

import (
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"aibox/test/output"
	"aibox/test/proclist"
)

// A program of the host that dies in a session ends it at once, and by name.
func TestKilledProgramsAreNamed(t *testing.T) {
	for program, w := range map[string]want{
		"qemu":      {1, "the VM was killed: qemu ended with exit status 137, as after signal 9 (killed)", "--memory"},
		"virtiofsd": {1, "the VM's file server stopped: virtiofsd", "try again"},
	} {
		b := newUser(t)
		s := b.shell()
		s.must("cat precious")
		killed := 0
		for _, p := range proclist.Below(t, s.cmd.Process.Pid) {
			if strings.HasPrefix(p.Name, program) {
				killed++
				b.must(syscall.Kill(p.PID, syscall.SIGKILL))
			}
		}
		if killed == 0 {
			t.Fatalf("no %s runs: %v", program, proclist.Below(t, s.cmd.Process.Pid))
		}
		noneWithin(t, 15*time.Second) // before its input ends, which would end the session too
		_, code := s.wait()
		w.check(t, s.stderr.String(), code)
	}
}

// Who closes the window of the terminal loses nothing that the VM has written.
func TestTerminalIsClosed(t *testing.T) {
	b := newUser(t)
	// script holds the other end of the terminal, which closes when it is killed
	window := exec.Command("script", "--quiet", "--flush", "--command", quote(readEnvironment().aibox)+" run --shell --image "+quote(b.image), "/dev/null")
	window.Dir, window.Env = b.project, b.env
	keys, err := window.StdinPipe()
	b.must(err)
	c := &console{t: t, out: &output.Buffer{}}
	window.Stdout = c.out
	b.must(window.Start())
	t.Cleanup(func() { _ = window.Process.Kill() })
	c.await(`\$ `)
	_, err = io.WriteString(keys, "echo kept > /usr/local/kept; echo kept > kept; echo writ''ten\r")
	b.must(err)
	c.await(`written`)
	b.must(window.Process.Kill())
	_ = window.Wait() // it was killed
	noneWithin(t, 20*time.Second)
	if out := b.mustRun("cat /usr/local/kept kept precious"); out != "kept\nkept\nwork of a day" {
		t.Errorf("after it: %q", out)
	}
}

func TestLimitsOfTheUser(t *testing.T) {
	for limit, w := range map[string]want{
		"-n 64":                    {4, "too few open files are allowed: virtiofsd", "ulimit -n "},
		"-v 1500000":               {4, "not enough free memory for the VM", "--memory"},
		"-f 1000":                  {1, "file too large", "ulimit -f "},
		"-n 1024; TMPDIR=/no/such": {4, "/no/such", "TMPDIR"},
	} {
		b := newUser(t)
		cmd := exec.Command("bash", "-c", `ulimit `+limit+` && export TMPDIR && exec "$0" run --shell --image "$1"`, readEnvironment().aibox, b.image)
		screen, code := b.onTerminal(cmd).last()
		w.check(t, screen, code)
		noneLeft(t)
	}
}
