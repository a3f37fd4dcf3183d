package vmtest

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync"

	"aibox/internal/vm"
)

// Fake is a backend whose guest is a function. The zero value's guest behaves
// as Suite asks.
type Fake struct {
	// Guest has the guest's end of the link. When it returns, the machine has
	// powered off, or failed with the error it returned.
	Guest func(net.Conn) error
	// StartErr, when set, is what Start returns.
	StartErr error
}

// Start implements vm.Backend.
func (f Fake) Start(ctx context.Context, _ vm.Spec) (vm.Machine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.StartErr != nil {
		return nil, f.StartErr
	}
	guest := f.Guest
	if guest == nil {
		guest = Echo
	}
	host, inner := net.Pipe()
	m := &machine{link: host, done: make(chan struct{})}
	go func() {
		err := guest(inner)
		inner.Close()
		m.end(err)
	}()
	return m, nil
}

// Echo is the guest that Suite asks for.
func Echo(c net.Conn) error {
	if _, err := c.Write([]byte("hello\n")); err != nil {
		return nil
	}
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err != nil || strings.TrimSpace(line) == "off" {
			return nil
		}
		if _, err := c.Write([]byte(line)); err != nil {
			return nil
		}
	}
}

type machine struct {
	link net.Conn
	done chan struct{}
	once sync.Once
	err  error
}

// end closes done with the first reason given.
func (m *machine) end(err error) {
	m.once.Do(func() {
		m.err = err
		m.link.Close()
		close(m.done)
	})
}

func (m *machine) Link() vm.Link         { return vm.Link{Serial: m.link} }
func (m *machine) Done() <-chan struct{} { return m.done }
func (m *machine) Err() error            { return m.err }
func (m *machine) Processes() []int      { return nil }
func (m *machine) Kill()                 { m.end(nil) }
