//go:build unix

package pages

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// shell is bash on a terminal of 40 rows and 160 columns.
type shell struct {
	t     *testing.T
	pty   *os.File
	limit time.Duration
	ended chan error

	mu     sync.Mutex
	screen strings.Builder
	grew   chan struct{} // closed when the screen grows
}

// prompt is bash's, with the last exit code.
const prompt = "[$?]reader> "

// prompted finds a prompt at the screen's end.
func prompted() *regexp.Regexp { return regexp.MustCompile(`\[(\d+)\]reader> $`) }

func start(t *testing.T, dir string, env []string, limit time.Duration) *shell {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "--noediting", "-i")
	cmd.Dir, cmd.Env = dir, append(env, "PS1="+prompt, "HISTFILE=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 160}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, pty: master, limit: limit, ended: make(chan error, 1), grew: make(chan struct{})}
	go s.read()
	go func() { s.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		master.Close() // hangs up what runs in the terminal
	})
	s.await(0, prompted())
	return s
}

func (s *shell) read() {
	piece := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(piece)
		s.mu.Lock()
		s.screen.Write(piece[:n])
		close(s.grew)
		s.grew = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// look returns what the terminal was sent from a place on, and what tells of more.
func (s *shell) look(from int) (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()[from:], s.grew
}

// await waits for a pattern behind a place and returns its groups and the place
// behind it.
func (s *shell) await(from int, pattern *regexp.Regexp) ([]string, int) {
	s.t.Helper()
	deadline := time.After(s.limit)
	for {
		text, grew := s.look(from)
		if at := pattern.FindStringSubmatchIndex(text); at != nil {
			return pattern.FindStringSubmatch(text), from + at[1]
		}
		select {
		case <-grew:
		case <-deadline:
			s.t.Fatalf("%s did not appear within %v in\n%s", pattern, s.limit, text)
		}
	}
}

func (s *shell) send(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// do types a command line and answers what is asked. It returns what was printed
// and the exit code.
func (s *shell) do(line string, answers []Answer) (string, int) {
	s.t.Helper()
	before, _ := s.look(0)
	from := len(before)
	s.send(line + "\r")
	_, at := s.await(from, regexp.MustCompile(`\n`)) // the echo of the line
	for _, a := range answers {
		_, at = s.await(at, regexp.MustCompile(a.Await))
		s.send(a.Send)
	}
	m, _ := s.await(at, prompted())
	code, err := strconv.Atoi(m[1])
	if err != nil {
		s.t.Fatal(err)
	}
	text, _ := s.look(from)
	return text, code
}

// lastLine returns the last line of the screen that matches.
func (s *shell) lastLine(pattern string) string {
	s.t.Helper()
	text, _ := s.look(0)
	found := regexp.MustCompile("(?m)"+pattern).FindAllString(strings.ReplaceAll(text, "\r\n", "\n"), -1)
	if len(found) == 0 {
		s.t.Fatalf("no %s on the screen:\n%s", pattern, text)
	}
	return found[len(found)-1]
}

// end leaves the shell.
func (s *shell) end() {
	s.t.Helper()
	s.send("exit\r")
	select {
	case <-s.ended:
	case <-time.After(s.limit):
		s.t.Fatal("the shell does not end")
	}
}
