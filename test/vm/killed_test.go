//go:build vm

package vm

import (
	"strings"
	"syscall"
	"testing"
	"time"
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
		for _, p := range descendants(t, s.cmd.Process.Pid) {
			if strings.HasPrefix(p.name, program) {
				killed++
				b.must(syscall.Kill(p.pid, syscall.SIGKILL))
			}
		}
		if killed == 0 {
			t.Fatalf("no %s runs: %v", program, descendants(t, s.cmd.Process.Pid))
		}
		noneWithin(t, 15*time.Second) // before its input ends, which would end the session too
		_, code := s.wait()
		w.check(t, s.stderr.String(), code)
	}
}
