package qemu

import (
	"net"
	"os"
	"sync/atomic"
	"time"

	"aibox/internal/proc"
	"aibox/internal/vm"
)

// machine is a running QEMU.
type machine struct {
	process *proc.Process
	link    net.Conn
	console *console
	killed  atomic.Bool
	done    chan struct{}
}

// drainTime bounds the wait for the console's end after QEMU ended.
const drainTime = time.Second

func newMachine(p *proc.Process, link net.Conn, from, to *os.File) *machine {
	m := &machine{process: p, link: link, console: &console{file: to}, done: make(chan struct{})}
	go m.watch(from)
	return m
}

func (m *machine) watch(from *os.File) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		m.console.copyFrom(from)
	}()
	<-m.process.Done()
	timer := time.AfterFunc(drainTime, func() { from.Close() })
	<-drained
	timer.Stop()
	from.Close()
	m.link.Close()
	close(m.done)
}

// Link implements vm.Machine.
func (m *machine) Link() vm.Link { return vm.Link{Serial: m.link} }

// Done implements vm.Machine.
func (m *machine) Done() <-chan struct{} { return m.done }

// Err implements vm.Machine. A kernel panic and a boot step of init that failed
// are errors with the reason from the console, though QEMU ends well then.
func (m *machine) Err() error {
	if m.killed.Load() {
		return nil
	}
	if err := m.process.Err(); err != nil {
		return explain(err, m.process.Stderr())
	}
	return gaveUp(m.console.reason(), m.console.file.Name())
}

// Processes implements vm.Machine.
func (m *machine) Processes() []int { return []int{m.process.PID()} }

// Kill implements vm.Machine.
func (m *machine) Kill() {
	select {
	case <-m.done: // it ended by itself, and Err keeps its reason
		return
	default:
	}
	m.killed.Store(true)
	m.process.Kill()
	timer := time.NewTimer(2 * drainTime)
	defer timer.Stop()
	select {
	case <-m.done:
	case <-timer.C:
	}
}
