package files

import (
	"io"
	"net"
	"testing"
)

func TestRelayCarriesOneStreamAndEndsBothSides(t *testing.T) {
	server, serverEnd := net.Pipe()
	vm, vmEnd := net.Pipe()
	r := newRelay(serverEnd)
	served := make(chan struct{})
	go func() {
		defer close(served)
		r.serve(vmEnd)
	}()
	for _, way := range [][2]net.Conn{{vm, server}, {server, vm}} {
		go func() { _, _ = io.WriteString(way[0], "hello") }()
		b := make([]byte, 5)
		if _, err := io.ReadFull(way[1], b); err != nil || string(b) != "hello" {
			t.Fatalf("%q, %v", b, err)
		}
	}
	second, secondEnd := net.Pipe()
	r.serve(secondEnd) // returns, and the link closes the stream
	secondEnd.Close()
	if _, err := second.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a second stream: %v, want its end", err)
	}
	vm.Close()
	<-served
	if _, err := server.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the server after the VM's end: %v, want EOF", err)
	}
}
