package link

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"aibox/internal/wire"
	"aibox/internal/wire/mux"
	"aibox/test/heap"
)

// native is a transport with streams of its own, such as vsock.
type native struct {
	fromVM chan net.Conn
	toVM   chan net.Conn
	closed chan struct{}
}

func newNative() *native {
	return &native{fromVM: make(chan net.Conn), toVM: make(chan net.Conn, 1), closed: make(chan struct{})}
}

func (n *native) Open(context.Context) (net.Conn, error) {
	host, vm := net.Pipe()
	n.toVM <- vm
	return host, nil
}

func (n *native) Accept() (net.Conn, error) {
	select {
	case c := <-n.fromVM:
		return c, nil
	case <-n.closed:
		return nil, io.EOF
	}
}

func (n *native) Close() error {
	select {
	case <-n.closed:
	default:
		close(n.closed)
	}
	return nil
}

func (n *native) dial() net.Conn {
	host, vm := net.Pipe()
	n.fromVM <- host
	return vm
}

func TestNativeStreams(t *testing.T) {
	n := newNative()
	go func() {
		vm := n.dial()
		sayHello(t, vm)
		if _, err := vm.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("after hello: %v, want the end", err)
		}
	}()
	l, err := New(n, Options{Handlers: map[string]Handler{"x": {MaxStreams: 1, Serve: func(c net.Conn) {
		_, _ = io.WriteString(c, "served")
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	vm := n.dial()
	if err := wire.WriteService(vm, "x"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(vm); err != nil || string(got) != "served" {
		t.Errorf("read %q, %v", got, err)
	}
	go func() {
		s := <-n.toVM
		name, _ := wire.ReadService(s)
		_, _ = io.WriteString(s, name)
		_ = s.Close()
	}()
	c, err := l.Open(t.Context(), "ssh")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "ssh" {
		t.Errorf("read %q, %v", got, err)
	}
	l.Close()
	if l.Err() != nil {
		t.Errorf("Err = %v", l.Err())
	}
}

func TestNativeStreamsWithoutHello(t *testing.T) {
	n := newNative()
	if l, err := New(n, Options{HelloTimeout: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("New = %v, %v", l, err)
	}
}

func TestNativeFloodEndsTheLink(t *testing.T) {
	n := newNative()
	go func() { sayHello(t, n.dial()) }()
	l, err := New(n, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range MaxStreams + MaxRefused + 1 {
		n.dial()
	}
	<-l.Done()
	var v *Violation
	if !errors.As(l.Err(), &v) {
		t.Errorf("Err = %v", l.Err())
	}
}

// TestMemoryOfFullWindows fills the window of every stream the VM may open,
// while no handler reads.
func TestMemoryOfFullWindows(t *testing.T) {
	release := make(chan struct{})
	link, conn := serve(t, Options{Handlers: map[string]Handler{"x": {MaxStreams: MaxStreams, Serve: func(net.Conn) { <-release }}}})
	sayHello(t, conn)
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	defer close(release)
	before := heap.Live()
	const small = 128
	piece := encode(frame{typ: data, stream: 1, length: small})
	for i := range uint32(MaxStreams) {
		_, _ = conn.Write(append(frame{typ: data, flags: syn, stream: 2*i + 1, length: 2}.header().Append(nil), "\x01x"...))
		h := frame{typ: data, stream: 2*i + 1, length: small}.header().Append(nil)
		copy(piece, h)
		// First in small pieces, which make the buffer grow step by step.
		for range 1024 {
			if _, err := conn.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		whole := encode(frame{typ: data, stream: 2*i + 1, length: mux.Window - 1024*small - 2})
		if _, err := conn.Write(whole); err != nil {
			t.Fatal(err)
		}
	}
	if used := heap.Live() - before; used > MaxStreams<<20 {
		t.Errorf("%d MiB used, want at most %d", used>>20, MaxStreams)
	} else {
		t.Logf("%d MiB used", used>>20)
	}
	select {
	case <-link().Done():
		t.Errorf("the link ended: %v", link().Err())
	default:
	}
}
