package terminal

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func TestServerThatOpensChannels(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		for n := 0; ; n++ {
			_, _, err := s.conn.OpenChannel("x11", []byte("\x1b[31m"))
			var refused *ssh.OpenChannelError
			if err == nil || n > MaxRefused {
				t.Errorf("channel %d: %v", n, err)
				return
			}
			if !errors.As(err, &refused) {
				return // the client has had enough
			}
		}
	})
	if code, err := Run(t.Context(), conn, keys, Options{}); code != -1 || !errors.Is(err, ErrLost) {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestServerThatAsksGlobally(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		for n := 0; ; n++ {
			ok, _, err := s.conn.SendRequest("tcpip-forward", true, nil)
			if ok || n > MaxRefused {
				t.Errorf("request %d: granted %v, %v", n, ok, err)
				return
			}
			if err != nil {
				return
			}
		}
	})
	if code, err := Run(t.Context(), conn, keys, Options{}); code != -1 || !errors.Is(err, ErrLost) {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestServerThatFloodsRequests(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		for {
			if _, err := s.channel.SendRequest("exit-status", false, []byte("short")); err != nil {
				return
			}
		}
	})
	if code, err := Run(t.Context(), conn, keys, Options{}); code != -1 || !errors.Is(err, ErrLost) {
		t.Errorf("Run = %d, %v", code, err)
	}
}

func TestServerThatChangesTheExitCode(t *testing.T) {
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(exitStatus{3}))
		s.exit(0)
	})
	if code, err := Run(t.Context(), conn, keys, Options{}); code != 3 || err != nil {
		t.Errorf("Run = %d, %v, want the first code", code, err)
	}
}

func TestServerThatNeverCloses(t *testing.T) {
	t.Parallel()
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(exitStatus{4}))
	})
	start := time.Now()
	if code, err := Run(t.Context(), conn, keys, Options{}); code != 4 || err != nil {
		t.Errorf("Run = %d, %v", code, err)
	}
	if took := time.Since(start); took < CloseGrace/2 || took > patience {
		t.Errorf("took %v", took)
	}
}

func TestServerThatRefuses(t *testing.T) {
	for _, refused := range []string{"env", "exec"} {
		conn, keys := serve(t, func(s served) {
			for r := range s.requests {
				_ = r.Reply(r.Type != refused, nil)
			}
		})
		code, err := Run(t.Context(), conn, keys, Options{Command: "c", Env: map[string]string{"A": "b"}})
		if code != -1 || !errors.Is(err, ErrSetup) {
			t.Errorf("%s: Run = %d, %v", refused, code, err)
		}
		_ = conn.Close()
	}
}

// stuck is a terminal that takes its first bytes and then no more.
type stuck struct {
	once  sync.Once
	began chan struct{}
	never chan struct{}
}

func newStuck() *stuck {
	return &stuck{began: make(chan struct{}), never: make(chan struct{})}
}

func (s *stuck) Write([]byte) (int, error) {
	s.once.Do(func() { close(s.began) })
	<-s.never
	return 0, io.ErrClosedPipe
}

// TestTerminalThatTakesNothing has the server send as much as it can, in the
// packets that cost the most memory.
func TestTerminalThatTakesNothing(t *testing.T) {
	var sent atomic.Int64
	conn, keys := serve(t, func(s served) {
		s.begin(t)
		for {
			if _, err := s.channel.Write([]byte{'x'}); err != nil {
				return
			}
			sent.Add(1)
		}
	})
	out := newStuck()
	defer close(out.never)
	ctx, cancel := context.WithCancel(t.Context())
	var before int64
	go func() {
		<-out.began
		before = sent.Load()
		// The server blocks: its count stops.
		for last := int64(-1); last != sent.Load(); time.Sleep(200 * time.Millisecond) {
			last = sent.Load()
		}
		cancel()
	}()
	start := time.Now()
	code, err := Run(ctx, conn, keys, Options{Stdout: out})
	if code != -1 || !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %d, %v", code, err)
	}
	// What went out fits into socket buffers and a few packets; a window would be 2 Mi.
	if n := sent.Load() - before; n > 200_000 {
		t.Errorf("%d packets were taken after the terminal stopped", n)
	} else {
		t.Logf("%d packets", n)
	}
	if took := time.Since(start); took > patience {
		t.Errorf("took %v", took)
	}
}
