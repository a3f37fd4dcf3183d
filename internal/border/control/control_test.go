package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"aibox/internal/wire"
)

// start runs Start against a VM that reads the boot message and says answer.
func start(t *testing.T, answer []byte, hangUp bool) (*Control, net.Conn, error) {
	t.Helper()
	host, vm := net.Pipe()
	t.Cleanup(func() { _ = vm.Close() })
	go func() {
		var m wire.ToGuest
		if err := wire.ReadMessage(vm, &m, wire.MaxToGuest); err != nil || m.Boot == nil || m.Boot.UID != 1234 {
			t.Errorf("the VM got %v, %v", m, err)
		}
		_, _ = vm.Write(answer)
		if hangUp {
			_ = vm.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := Start(ctx, host, wire.Boot{UID: 1234})
	if err != nil {
		if _, err := host.Write([]byte{1}); err == nil {
			t.Error("the stream is still open")
		}
	} else {
		t.Cleanup(c.Close)
	}
	return c, vm, err
}

func message(t *testing.T, m wire.ToHost) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := wire.WriteMessage(&b, m, wire.MaxToHost); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadyAndShutdown(t *testing.T) {
	c, vm, err := start(t, message(t, wire.ToHost{Ready: &wire.Ready{Steps: []wire.Step{
		{Name: "mount", Micros: 1500}, {Name: "a\x1b[31mb\n", Micros: -5}, {Name: "c", Micros: 1 << 62},
	}}}), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{{"mount", 1500 * time.Microsecond}, {"a?[31mb?", 0}, {"c", time.Hour}}
	if diff := cmp.Diff(want, c.Steps()); diff != "" {
		t.Error(diff)
	}
	got := make(chan wire.ToGuest, 1)
	go func() {
		var m wire.ToGuest
		_ = wire.ReadMessage(vm, &m, wire.MaxToGuest)
		got <- m
		_ = vm.Close()
	}()
	if err := errors.Join(c.Shutdown(), c.Shutdown()); err != nil {
		t.Error(err)
	}
	if m := <-got; m.Shutdown == nil || m.Boot != nil {
		t.Errorf("the VM got %v", m)
	}
	<-c.Done()
	if c.Err() != nil {
		t.Errorf("Err = %v", c.Err())
	}
}

func TestFailedBoot(t *testing.T) {
	_, _, err := start(t, message(t, wire.ToHost{Failed: &wire.Failed{Step: "state\ndisk", Reason: "no \x1b]0;x\aext4" + strings.Repeat("y", 1000)}}), false)
	var f *FailedError
	if !errors.As(err, &f) || f.Step != "state?disk" || !strings.HasPrefix(f.Reason, "no ?]0;x?ext4yy") || len(f.Reason) > MaxReason+3 {
		t.Errorf("Start: %v", err)
	}
}

func TestBadAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer string
		want   string
	}{
		{"nothing", "", "unexpected EOF"},
		{"half a length", "\x00\x00", "unexpected EOF"},
		{"half a message", "\x00\x00\x00\x09{", "unexpected EOF"},
		{"too long", "\x7f\x00\x00\x00{}", "over the limit"},
		{"not JSON", "\x00\x00\x00\x03\x1b[m", "decode message"},
		{"empty", "\x00\x00\x00\x02{}", "neither ready nor failed"},
		{"both", string(message(t, wire.ToHost{Ready: &wire.Ready{}, Failed: &wire.Failed{}})), "neither ready nor failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := start(t, []byte(c.answer), true)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("Start: %v, want %q", err, c.want)
			}
		})
	}
}

func TestSecondMessageEndsTheStream(t *testing.T) {
	ready := message(t, wire.ToHost{Ready: &wire.Ready{}})
	c, vm, err := start(t, ready, false)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = vm.Write(ready)
	<-c.Done()
	if c.Err() == nil || !strings.Contains(c.Err().Error(), "second message") {
		t.Errorf("Err = %v", c.Err())
	}
	if _, err := vm.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v, want the end", err)
	}
}

func TestSilentVM(t *testing.T) {
	host, vm := net.Pipe()
	defer vm.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	// It does not even read the boot message.
	if _, err := Start(ctx, host, wire.Boot{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Start: %v", err)
	}
}

// answers is a VM that says what it was given.
type answers struct {
	net.Conn
	*bytes.Reader
}

func (a answers) Read(p []byte) (int, error)  { return a.Reader.Read(p) }
func (a answers) Write(p []byte) (int, error) { return len(p), nil }
func (a answers) Close() error                { return nil }

func FuzzStart(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\x00\x00\x00\x22{\"ready\":{\"steps\":[{\"name\":\"a\"}]}}"))
	f.Add([]byte("\x00\x00\x00\x27{\"failed\":{\"step\":\"\\u001b\",\"reason\":\"b\"}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Start(context.Background(), answers{Reader: bytes.NewReader(b)}, wire.Boot{})
		if err != nil {
			clean(t, err.Error(), 2*MaxReason)
			if c != nil {
				t.Error("a value beside an error")
			}
			return
		}
		<-c.Done()
		if len(c.Steps()) > MaxSteps {
			t.Errorf("%d steps", len(c.Steps()))
		}
		for _, s := range c.Steps() {
			clean(t, s.Name, MaxStepName+3)
			if s.Took < 0 || s.Took > MaxStepTime {
				t.Errorf("took %v", s.Took)
			}
		}
	})
}

func clean(t *testing.T, s string, limit int) {
	t.Helper()
	if len(s) > limit || !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x1b\u009b") {
		t.Errorf("not clean: %q", s)
	}
}
