//go:build hostile

package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aibox/internal/vm"
	"aibox/test/proclist"
)

// maxConsoleLog is what console.log may have: its limits and a line between.
const maxConsoleLog = 4<<20 + 64<<10 + 100

// console floods the VM's console and then ends the VM with forged last words.
func (x *scene) console(t *testing.T) {
	attack(t, "console: a flood of escape codes from the VM", "bounded log", false, func(t *testing.T) {
		x.vm.must(t, asRoot(`timeout 5 sh -c 'yes "$(printf "\033[2J\033]0;owned\007flood")" > /dev/ttyS0'; true`))
		x.bounded(t)
	})
	attack(t, "console: a forged reason with escape codes", "plain text only", false, func(t *testing.T) {
		die, err := json.Marshal(order{Root: true, Shell: `printf 'aibox-init: \033]0;owned\007\033[31mforged: reason\n' > /dev/ttyS0; sleep 1; python3 -c "import ctypes; ctypes.CDLL(None).reboot(0x01234567)"`})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.vm.stdin.Write(append(die, '\n')); err != nil {
			t.Fatal(err)
		}
		if _, code := x.vm.wait(t); code == 0 {
			t.Error("a VM that ended itself gives exit code 0")
		}
		if !strings.Contains(x.vm.stderr.String(), "aibox: ") {
			t.Errorf("stderr: %q", x.vm.stderr.String())
		}
		clean(t, "stderr", x.vm.stderr.String())
		x.bounded(t)
	})
}

func (x *scene) bounded(t *testing.T) {
	t.Helper()
	fi, err := os.Stat(filepath.Join(x.state(), "console.log"))
	if err != nil || fi.Size() > maxConsoleLog {
		t.Errorf("console.log: %v, %v", fi.Size(), err)
	}
}

// TestQEMUThatFloods has the attacker in QEMU's place misuse what it was given.
func TestQEMUThatFloods(t *testing.T) {
	attack(t, "QEMU: print a gigabyte on the console", "bounded log", false, func(t *testing.T) {
		m, log := machine(t, target{Do: "flood the console"}, false)
		await(t, m)
		fi, err := os.Stat(log)
		if err != nil || fi.Size() > maxConsoleLog || fi.Size() < 4<<20 {
			t.Errorf("console.log: %d bytes, %v", fi.Size(), err)
		}
	})
	attack(t, "QEMU: end with escape codes in its last words", "plain text only", false, func(t *testing.T) {
		m, _ := machine(t, target{Do: "die with escape codes"}, false)
		await(t, m)
		if m.Err() == nil {
			t.Fatal("no error")
		}
		clean(t, "the error", m.Err().Error())
	})
	attack(t, "QEMU: print 200 MB as last words", "bounded tail", false, func(t *testing.T) {
		m, _ := machine(t, target{Do: "flood stderr"}, false)
		await(t, m)
		if err := m.Err(); err == nil || len(err.Error()) > 2500 {
			t.Errorf("the error is %q", err)
		}
		clean(t, "the error", m.Err().Error())
	})
	attack(t, "QEMU: leave daemons behind", "process namespace", true, func(t *testing.T) {
		for _, noSandbox := range []bool{true, false} {
			m, log := machine(t, target{Do: "leave a daemon"}, noSandbox)
			awaitReport(t, log, m.Done(), m.Err)
			m.Kill()
			left := daemons(t, noSandbox)
			if noSandbox && len(left) == 0 {
				t.Error("control: without the sandbox no daemon is left")
			}
			for _, p := range left {
				p.Kill()
			}
			if !noSandbox && len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		}
	})
}

func await(t *testing.T, m vm.Machine) {
	t.Helper()
	select {
	case <-m.Done():
	case <-time.After(patience):
		t.Fatal("the machine does not end")
	}
}

// daemons lists the processes that the attacker left: at once where some are
// expected, else when they had time to end.
func daemons(t *testing.T, expected bool) (left []proclist.Process) {
	t.Helper()
	deadline := time.Now()
	if !expected {
		deadline = deadline.Add(leftWithin)
	}
	for {
		left = nil
		for _, p := range proclist.All(t) {
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID)); err == nil && bytes.Contains(line, []byte("vm\x00daemon")) {
				left = append(left, p)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(20 * time.Millisecond) // polls /proc, which announces nothing
	}
}
