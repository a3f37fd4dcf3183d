// Package vmtest has the test that every vm.Backend passes and a backend in
// memory that passes it too, for tests of what runs machines.
package vmtest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"aibox/internal/vm"
)

// deadline bounds each wait of the suite; software emulation boots slowly.
const deadline = 60 * time.Second

// Suite runs the contract of vm.Backend against backend. The guest in spec must
// say "hello" and a line end on the link when it is up, echo every line after
// that, and power off at the line "off". spec is called once per machine.
func Suite(t *testing.T, backend vm.Backend, spec func(*testing.T) vm.Spec) {
	t.Run("talks both ways and powers off", func(t *testing.T) {
		m, link := start(t, backend, spec(t))
		for _, line := range []string{"one", strings.Repeat("x", 3000)} {
			link.send(t, line)
			link.want(t, line)
		}
		link.send(t, "off")
		wait(t, m)
		if err := m.Err(); err != nil {
			t.Errorf("Err after a power-off: %v", err)
		}
		m.Kill() // harmless now
		if err := m.Err(); err != nil {
			t.Errorf("Err after a late Kill: %v", err)
		}
	})
	t.Run("is killed", func(t *testing.T) {
		m, link := start(t, backend, spec(t))
		m.Kill()
		select {
		case <-m.Done():
		default:
			t.Error("not Done after Kill")
		}
		if err := m.Err(); err != nil {
			t.Errorf("Err after Kill: %v", err)
		}
		if _, err := link.conn.Write([]byte("x")); err == nil {
			t.Error("the link of a killed machine can be written")
		}
		m.Kill()
	})
	t.Run("end of the link's reader is seen", func(t *testing.T) {
		m, link := start(t, backend, spec(t))
		got := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, link.r)
			got <- err
		}()
		m.Kill()
		select {
		case <-got: // nil or an error, but not for ever
		case <-time.After(deadline):
			t.Error("the reader of a killed machine's link waits for ever")
		}
	})
	t.Run("outlives the context of its start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		m, link := startWith(ctx, t, backend, spec(t))
		cancel()
		link.send(t, "still here")
		link.want(t, "still here")
		m.Kill()
	})
	t.Run("does not start after the end of its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if m, err := backend.Start(ctx, spec(t)); !errors.Is(err, context.Canceled) {
			if err == nil {
				m.Kill()
			}
			t.Errorf("Start with a cancelled context: %v", err)
		}
	})
}

// line is the link, line by line.
type line struct {
	conn interface {
		io.Writer
		SetDeadline(time.Time) error
	}
	r *bufio.Reader
}

func start(t *testing.T, b vm.Backend, s vm.Spec) (vm.Machine, *line) {
	t.Helper()
	return startWith(context.Background(), t, b, s)
}

func startWith(ctx context.Context, t *testing.T, b vm.Backend, s vm.Spec) (vm.Machine, *line) {
	t.Helper()
	m, err := b.Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Kill)
	serial := m.Link().Serial
	if serial == nil || m.Link().Streams != nil {
		t.Fatalf("link %+v, want exactly a serial one", m.Link())
	}
	l := &line{conn: serial, r: bufio.NewReader(serial)}
	l.want(t, "hello")
	return m, l
}

func (l *line) send(t *testing.T, s string) {
	t.Helper()
	if err := l.conn.SetDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(l.conn, s+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (l *line) want(t *testing.T, s string) {
	t.Helper()
	if err := l.conn.SetDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	got, err := l.r.ReadString('\n')
	if err != nil || got != s+"\n" {
		t.Fatalf("link: read %q, %v, want %q", got, err, s)
	}
}

func wait(t *testing.T, m vm.Machine) {
	t.Helper()
	select {
	case <-m.Done():
	case <-time.After(deadline):
		t.Fatal("the machine does not end")
	}
}
