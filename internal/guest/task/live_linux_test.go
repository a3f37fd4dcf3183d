package task

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// halves is a stream both of whose directions end on their own.
type halves struct {
	net.Conn
	r *io.PipeReader
	w *io.PipeWriter
}

func (h halves) Read(p []byte) (int, error)  { return h.r.Read(p) }
func (h halves) Write(p []byte) (int, error) { return h.w.Write(p) }
func (h halves) CloseWrite() error           { return h.w.Close() }
func (h halves) Close() error                { return errors.Join(h.r.Close(), h.w.Close()) }

func newHalves() (vm, host halves) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	a, b := net.Pipe() // for the deadlines
	return halves{a, r1, w2}, halves{b, r2, w1}
}

func TestLiveWaitsForTheHost(t *testing.T) {
	vm, host := newHalves()
	stored := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(host)
		stored <- string(text)
		host.CloseWrite()
	}()
	j := &job{Options: Options{Open: func(string) (Stream, error) { return vm, nil }}}
	l := j.live("x", 5)
	for range 3 {
		if n, err := l.Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
	select {
	case text := <-stored:
		if text != "abcab" {
			t.Errorf("the host has %q", text)
		}
	default:
		t.Error("it did not wait for the host")
	}
}

func TestLiveThatTheHostCuts(t *testing.T) {
	for name, answer := range map[string]func(host halves){
		"cut":    func(host halves) { _ = host.w.CloseWithError(io.ErrUnexpectedEOF) },
		"answer": func(host halves) { _, _ = host.Write([]byte("x")) },
	} {
		vm, host := newHalves()
		go func() {
			_, _ = io.Copy(io.Discard, host)
			answer(host)
		}()
		j := &job{Options: Options{Open: func(string) (Stream, error) { return vm, nil }}}
		if err := j.live("x", 5).close(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	j := &job{Options: Options{Open: func(string) (Stream, error) { return nil, errors.New("no link") }}}
	l := j.live("x", 5)
	if n, err := l.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("write: %d, %v", n, err)
	}
	if err := l.close(); err == nil || !strings.Contains(err.Error(), "no link") {
		t.Errorf("error %v", err)
	}
}
