//go:build unix

package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/crypto/ssh"
	"golang.org/x/term"
)

// screen is a terminal: user is its far side, tty what aibox has as stdin and stdout.
type screen struct {
	user, tty *os.File
	before    *term.State

	mu   sync.Mutex
	seen bytes.Buffer
	more chan struct{}
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{user: user, tty: tty, before: before, more: make(chan struct{})}
	s.resize(t, 100, 40)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(s, user)
	}()
	t.Cleanup(func() {
		_ = tty.Close()
		_ = user.Close()
		<-ended
	})
	return s
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
	return s.seen.Write(p)
}

// text returns what the screen shows and a channel that is closed by more.
func (s *screen) text() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String(), s.more
}

// await waits until the screen shows want.
func (s *screen) await(t *testing.T, want string) {
	t.Helper()
	timer := time.After(patience)
	for {
		got, more := s.text()
		if strings.Contains(got, want) {
			return
		}
		select {
		case <-more:
		case <-timer:
			t.Errorf("the screen shows %q, want %q", got, want)
			return
		}
	}
}

func (s *screen) resize(t *testing.T, columns, rows uint16) {
	t.Helper()
	if err := pty.Setsize(s.user, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		t.Fatal(err)
	}
}

func (s *screen) checkRestored(t *testing.T) {
	t.Helper()
	now, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if *now != *s.before {
		t.Errorf("the terminal is in state %v, was in %v", now, s.before)
	}
}

func (s *screen) options() Options {
	return Options{PTY: true, Stdin: s.tty, Stdout: s.tty, Env: map[string]string{"TERM": "xterm-256color"}}
}

func TestPTYSession(t *testing.T) {
	s := newScreen(t)
	var keysSeen bytes.Buffer
	conn, keys := serve(t, func(v served) {
		got := v.begin(t)
		var p ptyRequest
		if err := ssh.Unmarshal(got["pty-req"], &p); err != nil || p.Term != "xterm-256color" || p.Columns != 100 || p.Rows != 40 {
			t.Errorf("pty-req %+v, %v", p, err)
		}
		_, _ = v.channel.Write([]byte("ready"))
		in := make([]byte, 5)
		if _, err := io.ReadFull(v.channel, in); err != nil || string(in) != "a\x03\x1a\r\x04" {
			t.Errorf("the VM read %q, %v", in, err)
		}
		_, _ = v.channel.Write([]byte("resize"))
		r := <-v.requests
		var z windowChange
		if err := ssh.Unmarshal(r.Payload, &z); r.Type != "window-change" || err != nil || z.Columns != 90 || z.Rows != 20 {
			t.Errorf("%s %+v, %v", r.Type, z, err)
		}
		_, _ = v.channel.Write([]byte("one\ntwo"))
		v.exit(7)
	})
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		s.await(t, "ready")
		_, _ = s.user.WriteString("a\x03\x1a\r\x04")
		s.await(t, "resize")
		s.resize(t, 90, 20)
		_ = syscall.Kill(os.Getpid(), syscall.SIGWINCH)
	}()
	o := s.options()
	o.OnInput = func(b []byte) { keysSeen.Write(b) }
	code, err := Run(t.Context(), conn, keys, o)
	if code != 7 || err != nil {
		t.Errorf("Run = %d, %v", code, err)
	}
	<-typed
	s.checkRestored(t)
	s.await(t, "one\ntwo") // raw: no carriage return is added
	if got, _ := s.text(); got != "readyresizeone\ntwo" {
		t.Errorf("the screen shows %q", got)
	}
	if keysSeen.String() != "a\x03\x1a\r\x04" {
		t.Errorf("OnInput saw %q", keysSeen.String())
	}
}

func TestPTYIsRestored(t *testing.T) {
	const tui = "\x1b[?1049h\x1b[?1000;1006h\x1b[?2004h\x1b[?25l\x1b[>1u\x1b=draw"
	const undone = "\x1b[?1000l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[<1u\x1b[?1049l\x1b>"
	for _, c := range []struct {
		name  string
		end   func(served)
		panic bool
		want  error
		shows string
	}{
		{name: "good end", end: func(v served) { v.exit(0) }, shows: tui + undone},
		{name: "lost", end: func(v served) { _ = v.conn.Close() }, want: ErrLost, shows: tui + undone + "\x1b[0m\x1b]8;;\x1b\\\x1b[?25h\r\n"},
		{name: "panic", end: func(served) {}, panic: true, shows: tui + undone + "\x1b[0m\x1b]8;;\x1b\\\x1b[?25h\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t)
			conn, keys := serve(t, func(v served) {
				v.begin(t)
				_, _ = v.channel.Write([]byte(tui))
				s.await(t, "draw")
				c.end(v)
			})
			o := s.options()
			if c.panic {
				o.OnInput = func([]byte) { panic("bug") }
				go func() {
					s.await(t, "draw")
					_, _ = s.user.WriteString("k")
				}()
			}
			_, err := Run(t.Context(), conn, keys, o)
			if c.panic == (err == nil || !strings.Contains(err.Error(), "bug")) || !c.panic && !errors.Is(err, c.want) {
				t.Errorf("Run: %v", err)
			}
			s.checkRestored(t)
			s.await(t, c.shows)
		})
	}
}

// TestPTYWithAStuckTerminal ends a session whose terminal takes no output.
func TestPTYWithAStuckTerminal(t *testing.T) {
	s := newScreen(t)
	conn, keys := serve(t, func(v served) {
		v.begin(t)
		_, _ = v.channel.Write([]byte("\x1b[?2004hx"))
	})
	o := s.options()
	out := newStuck()
	defer close(out.never)
	o.Stdout = out
	go func() {
		<-out.began
		_ = conn.Close()
	}()
	start := time.Now()
	if _, err := Run(t.Context(), conn, keys, o); err == nil {
		t.Error("Run succeeded")
	}
	if took := time.Since(start); took > patience {
		t.Errorf("took %v", took)
	}
	s.checkRestored(t)
}

// TestKeysAfterTheSession shows that nothing reads the terminal any more.
func TestKeysAfterTheSession(t *testing.T) {
	s := newScreen(t)
	conn, keys := serve(t, func(v served) {
		v.begin(t)
		v.exit(0)
	})
	if _, err := Run(t.Context(), conn, keys, s.options()); err != nil {
		t.Fatal(err)
	}
	_, _ = s.user.WriteString("for the shell\n")
	b := make([]byte, 100)
	n, err := s.tty.Read(b)
	if got := string(b[:n]); got != "for the shell\n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}
