package link

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"aibox/internal/wire/mux"
)

// streams returns both ends of one stream: the handler's and the guest's.
func streams(t *testing.T) (host, vm *mux.Stream) {
	t.Helper()
	got := make(chan net.Conn)
	release := make(chan struct{})
	_, conn := serve(t, Options{Handlers: map[string]Handler{"x": {MaxStreams: 1, Serve: func(c net.Conn) {
		got <- c
		<-release
	}}}})
	t.Cleanup(func() { close(release) })
	g := newGuest(t, conn)
	vm = g.open("x")
	return (<-got).(*mux.Stream), vm
}

func TestHalfCloseLeavesTheOtherDirectionOpen(t *testing.T) {
	host, vm := streams(t)
	_, _ = io.WriteString(vm, "request")
	_ = vm.CloseWrite()
	if got, err := io.ReadAll(host); err != nil || string(got) != "request" {
		t.Fatalf("host read %q, %v", got, err)
	}
	_, _ = io.WriteString(host, "answer")
	_ = host.CloseWrite()
	if got, err := io.ReadAll(vm); err != nil || string(got) != "answer" {
		t.Errorf("guest read %q, %v", got, err)
	}
	if _, err := host.Write([]byte("x")); err == nil {
		t.Error("write after CloseWrite succeeded")
	}
}

func TestCloseDeliversWhatWasWrittenAndThenResets(t *testing.T) {
	host, vm := streams(t)
	_, _ = io.WriteString(host, "refused")
	_ = host.Close()
	if got, err := io.ReadAll(vm); err != nil || string(got) != "refused" {
		t.Fatalf("guest read %q, %v", got, err)
	}
	// The guest goes on sending and never ends its direction.
	start := time.Now()
	for {
		if _, err := vm.Write(make([]byte, 8<<10)); err != nil {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("the guest can still write")
		}
	}
	if took := time.Since(start); took < mux.Linger/2 {
		t.Errorf("reset after %v, want about %v", took, mux.Linger)
	}
	if _, err := host.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
}

func TestAbortFailsTheOtherSide(t *testing.T) {
	for _, from := range []string{"host", "guest"} {
		t.Run(from, func(t *testing.T) {
			one, other := streams(t)
			if from == "guest" {
				one, other = other, one
			}
			_, _ = io.WriteString(other, "hello")
			if _, err := io.ReadFull(one, make([]byte, 5)); err != nil {
				t.Fatal(err)
			}
			one.Abort()
			if _, err := other.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Errorf("read: %v, want an error", err)
			}
			if _, err := other.Write([]byte("x")); err == nil {
				t.Error("write succeeded")
			}
		})
	}
}

func TestAbortWakesBlockedReadersAndWriters(t *testing.T) {
	host, vm := streams(t)
	errs := make(chan error, 2)
	go func() {
		_, err := host.Read(make([]byte, 1))
		errs <- err
	}()
	go func() { // nobody reads: stops when the window is full
		_, err := io.Copy(host, endless{})
		errs <- err
	}()
	_, _ = io.ReadFull(vm, make([]byte, 100))
	host.Abort()
	for range 2 {
		select {
		case err := <-errs:
			if err == nil {
				t.Error("no error")
			}
		case <-time.After(patience):
			t.Fatal("still blocked")
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestDeadlineHoldsAgainstAConstantTrickle(t *testing.T) {
	host, vm := streams(t)
	go func() { _, _ = io.Copy(vm, endless{}) }()
	_ = host.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := io.Copy(io.Discard, host); !isTimeout(err) {
		t.Errorf("read: %v, want a timeout", err)
	}
	host.Abort()
}

func TestEndOfTheLinkIsNotTheEndOfAStream(t *testing.T) {
	got := make(chan error, 1)
	_, conn := serve(t, Options{Handlers: map[string]Handler{"x": {MaxStreams: 1, Serve: func(c net.Conn) {
		_, err := io.ReadAll(c)
		got <- err
	}}}})
	g := newGuest(t, conn)
	_, _ = io.WriteString(g.open("x"), "half of it")
	_ = conn.Close()
	if err := <-got; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read: %v, want an unexpected end", err)
	}
}
