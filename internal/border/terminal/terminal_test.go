package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"aibox/test/conns"
)

func TestCommand(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		got := s.begin(t)
		var m execRequest
		_ = ssh.Unmarshal(got["exec"], &m)
		if m.Command != "do it" || string(got["env A"]) != "1" || string(got["env B"]) != "x y" || got["pty-req"] != nil {
			t.Errorf("the VM was asked for %q", got)
		}
		in, err := io.ReadAll(s.channel)
		if err != nil {
			t.Error(err)
		}
		_, _ = s.channel.Stderr().Write([]byte("err"))
		_, _ = s.channel.Write(bytes.ToUpper(in))
		s.exit(7)
	})
	var stdout, stderr bytes.Buffer
	code, err := Run(t.Context(), conn, keys, Options{
		Command: "do it", Env: map[string]string{"A": "1", "B": "x y"},
		Stdin: strings.NewReader("input"), Stdout: &stdout, Stderr: &stderr,
	})
	if code != 7 || err != nil || stdout.String() != "INPUT" || stderr.String() != "err" {
		t.Errorf("Run = %d, %v, stdout %q, stderr %q", code, err, &stdout, &stderr)
	}
}

func TestShellWithoutInput(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		if got := s.begin(t); len(got) != 1 {
			t.Errorf("the VM was asked for %q", got)
		}
		if in, err := io.ReadAll(s.channel); len(in) > 0 || err != nil {
			t.Errorf("input %q, %v", in, err)
		}
		s.exit(0)
	})
	if code, err := Run(t.Context(), conn, keys, Options{}); code != 0 || err != nil {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestMuchOutputArrivesWhole(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		_, _ = s.channel.Write(want)
		s.exit(0)
	})
	var got bytes.Buffer
	code, err := Run(t.Context(), conn, keys, Options{Stdout: &got})
	if code != 0 || err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("Run = %d, %v, %d bytes of %d", code, err, got.Len(), len(want))
	}
}

func TestExitCode(t *testing.T) {
	signal := func(name string) []byte { return ssh.Marshal(exitSignal{Signal: name, Message: "m"}) }
	for _, c := range []struct {
		kind    string
		payload []byte
		code    int
		ok      bool
	}{
		{"exit-status", ssh.Marshal(exitStatus{0}), 0, true},
		{"exit-status", ssh.Marshal(exitStatus{137}), 137, true},
		{"exit-status", ssh.Marshal(exitStatus{256}), 255, true},
		{"exit-status", ssh.Marshal(exitStatus{1 << 31}), 255, true},
		{"exit-status", []byte{1}, 0, false},
		{"exit-signal", signal("KILL"), 137, true},
		{"exit-signal", signal("INT"), 130, true},
		{"exit-signal", signal("USR2"), 140, true},
		{"exit-signal", signal("\x1b[31m"), 128, true},
		{"exit-signal", []byte("x"), 0, false},
		{"other", nil, 0, false},
	} {
		if code, ok := exitCode(c.kind, c.payload); code != c.code || ok != c.ok {
			t.Errorf("exitCode(%s, %x) = %d, %v, want %d, %v", c.kind, c.payload, code, ok, c.code, c.ok)
		}
	}
}

func TestLostConnection(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		_, _ = s.channel.Write([]byte("last words"))
		_ = s.conn.Close()
	})
	var got bytes.Buffer
	code, err := Run(t.Context(), conn, keys, Options{Stdout: &got})
	if code != -1 || !errors.Is(err, ErrLost) || got.String() != "last words" {
		t.Errorf("Run = %d, %v, %q", code, err, &got)
	}
}

func TestCancel(t *testing.T) {
	why := errors.New("the VM has ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		cancel(why)
	})
	if code, err := Run(ctx, conn, keys, Options{}); code != -1 || !errors.Is(err, why) {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestWrongHostKey(t *testing.T) {
	conn, keys := serve(t, func(served) { t.Error("a session was opened") })
	other, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	mixed := *keys
	mixed.host = other.host
	if code, err := Run(t.Context(), conn, &mixed, Options{}); code != -1 || !errors.Is(err, ErrSetup) {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestKeysAreNew(t *testing.T) {
	a, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	if a.HostPEM == b.HostPEM || a.AuthorizedKey == b.AuthorizedKey {
		t.Error("two boots share a key")
	}
	if strings.ContainsAny(a.AuthorizedKey, "\n") || !strings.HasPrefix(a.AuthorizedKey, "ssh-ed25519 ") {
		t.Errorf("authorized key %q", a.AuthorizedKey)
	}
}

func TestPTYNeedsATerminal(t *testing.T) {
	client, _ := conns.Unix(t)
	code, err := Run(t.Context(), client, nil, Options{PTY: true, Stdin: strings.NewReader("")})
	if code != -1 || !errors.Is(err, ErrSetup) {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestOutputThatFails(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		_, _ = s.channel.Write(make([]byte, 8<<20))
		s.exit(0)
	})
	r, w := io.Pipe()
	_ = r.Close()
	if code, err := Run(t.Context(), conn, keys, Options{Stdout: w}); code != -1 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestSilentServer(t *testing.T) {
	client, server := conns.Unix(t)
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, server) }()
	if _, err := loginWithin(t.Context(), client, keys, 20*time.Millisecond); !errors.Is(err, ErrSetup) || !strings.Contains(err.Error(), "too long") {
		t.Errorf("run: %v", err)
	}
}

func TestServerThatLies(t *testing.T) {
	for _, c := range []struct{ name, says string }{
		{"no SSH", "HTTP/1.1 200 OK\r\n\r\n"},
		{"endless banner", strings.Repeat("x\r\n", 1<<20)},
		{"escape codes", "SSH-2.0-\x1b[31m\r\n\x00\x00\x00\x0c\x0a\x1b\x1b\x1b"},
		{"huge packet", "SSH-2.0-x\r\n\x7f\xff\xff\xff\x04xxxx"},
		{"nothing", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, server := conns.Unix(t)
			keys, err := NewKeys()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = io.WriteString(server, c.says)
				_ = server.CloseWrite()
				_, _ = io.Copy(io.Discard, server)
			}()
			code, err := Run(t.Context(), client, keys, Options{})
			if code != -1 || !errors.Is(err, ErrSetup) || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 2*maxErrorText {
				t.Errorf("Run = %d, %q", code, err)
			}
		})
	}
}
