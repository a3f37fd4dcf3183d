//go:build vm

package vm

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"aibox/test/output"
	"aibox/test/proclist"
)

// console is `aibox run` on a terminal that the test holds.
type console struct {
	t      *testing.T
	pty    *os.File
	tty    *os.File
	before *term.State
	cmd    *exec.Cmd
	out    *output.Buffer
	ended  chan error
}

// terminal starts `aibox run` with the arguments on a terminal.
func (b *box) terminal(args ...string) *console {
	b.t.Helper()
	return b.onTerminal(exec.Command(readEnvironment().aibox, append([]string{"run", "--image", b.image}, args...)...))
}

// onTerminal starts a command on a terminal of 30 rows and 100 columns, in the
// project and with the user's environment.
func (b *box) onTerminal(cmd *exec.Cmd) *console {
	b.t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		b.t.Fatal(err)
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		b.t.Fatal(err)
	}
	c := &console{t: b.t, pty: master, tty: tty, before: before, cmd: cmd, out: &output.Buffer{}, ended: make(chan error, 1)}
	c.cmd.Dir, c.cmd.Env = b.project, b.env
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(c.out, master) }()
	go func() { c.ended <- c.cmd.Wait() }()
	b.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		master.Close()
		tty.Close()
		if b.t.Failed() {
			b.t.Logf("the terminal showed:\n%q", tail(c.out.String(), 4000))
			b.report(&session{stderr: &output.Buffer{}})
		}
	})
	return c
}

func (c *console) send(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.pty, keys); err != nil {
		c.t.Fatal(err)
	}
}

// await waits until the screen's bytes match the pattern and returns the match.
func (c *console) await(pattern string) []string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(bootDeadline)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if m := re.FindStringSubmatch(c.out.String()); m != nil {
			return m
		}
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("%q did not appear within %v", pattern, bootDeadline)
		}
	}
}

// wait waits for the end and returns the exit code. The terminal must be as it was.
func (c *console) wait() int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(bootDeadline):
		c.t.Fatalf("aibox did not end within %v", bootDeadline)
	}
	after, err := term.GetState(int(c.tty.Fd()))
	if err != nil {
		c.t.Fatal(err)
	}
	if fmt.Sprint(*after) != fmt.Sprint(*c.before) {
		c.t.Errorf("the terminal's modes are %v, want those of before, %v", *after, *c.before)
	}
	return c.cmd.ProcessState.ExitCode()
}

func TestTerminalSizeSignalsAndExitCode(t *testing.T) {
	c := newBox(t).terminal("--shell")
	c.await(`\$ `)
	c.send("stty size; echo TERM=$TERM LANG=$LANG AIBOX=$AIBOX pwd=$PWD\r")
	c.await(`30 100\r\n`)
	c.await(`TERM=xterm-256color LANG=C.UTF-8 AIBOX=1 pwd=/project\r\n`)
	if err := pty.Setsize(c.pty, &pty.Winsize{Rows: 41, Cols: 123}); err != nil {
		t.Fatal(err)
	}
	c.send("until stty size | grep -x '41 123'; do :; done; echo res''ized\r")
	c.await(`41 123\r\nresized`)
	c.send("echo sle''eps; sleep 1000\r")
	c.await(`sleeps\r\n`)
	c.send("\x03")
	c.await(`\^C\r\n`)
	c.send("echo after=$?\r")
	c.await(`after=130\r\n`)
	c.send("exit 7\r")
	if code := c.wait(); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

func TestExitCodes(t *testing.T) {
	b := newBox(t)
	for command, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "no-such-command": 127} {
		if out, code := b.run(command); code != want {
			t.Errorf("%s: exit code %d, want %d; %s", command, code, want, out)
		}
	}
}

func TestTerminalIsRestoredWhenTheMachineIsKilled(t *testing.T) {
	b := newBox(t)
	c := b.terminal("--shell")
	c.await(`\$ `)
	c.send("printf '\\033[?1049h\\033[?1000h\\033[?2004h\\033[?25l' && echo modes''-set\r")
	c.await(`modes-set`)
	killQEMU(t, c.cmd.Process.Pid)
	if code := c.wait(); code == 0 {
		t.Error("exit code 0 after the machine was killed")
	}
	for _, want := range []string{"\x1b[?1049l", "\x1b[?1000l", "\x1b[?2004l", "\x1b[?25h"} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("the terminal was not sent %q", want)
		}
	}
	c.await(`aibox: `)
}

// killQEMU kills every QEMU below a process.
func killQEMU(t *testing.T, ancestor int) {
	t.Helper()
	killed := 0
	for _, p := range proclist.Below(t, ancestor) {
		if strings.HasPrefix(p.Name, "qemu") {
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("no QEMU runs")
	}
}

func TestPipingIsRefused(t *testing.T) {
	b := newBox(t)
	cmd := exec.Command(readEnvironment().aibox, "run", "--image", b.image)
	cmd.Dir, cmd.Env, cmd.Stdin = b.project, b.env, bytes.NewReader(nil)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "terminal") || !strings.Contains(string(out), "hint: ") {
		t.Errorf("aibox run with a pipe as stdin: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(b.home, ".aibox")); err == nil {
		t.Error("a refused run created ~/.aibox")
	}
}
