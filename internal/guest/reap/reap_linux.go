package reap

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Reaper starts children and collects the status of every process that ends
// as a child of this one. It must be the only one of its process.
type Reaper struct {
	ended chan os.Signal

	// mu is held from fork to registration, for each single wait, and for
	// each signal.
	mu       sync.Mutex
	children map[int]*Child
}

// Child is a process that Start started.
type Child struct {
	reaper *Reaper
	pid    int
	done   chan struct{}
	status syscall.WaitStatus // valid once done is closed
}

// New returns a reaper. Nothing is reaped until Run is called.
func New() *Reaper {
	r := &Reaper{ended: make(chan os.Signal, 1), children: map[int]*Child{}}
	signal.Notify(r.ended, syscall.SIGCHLD)
	return r
}

// Run reaps until stop is closed. SIGCHLD is one bit, however many children
// ended, so each one starts a sweep; the channel's one slot keeps the signal
// that arrives during a sweep.
func (r *Reaper) Run(stop <-chan struct{}) {
	defer signal.Stop(r.ended)
	for {
		for r.one() {
		}
		select {
		case <-r.ended:
		case <-stop:
			return
		}
	}
}

// one reaps at most one child and tells whether there may be more. The lock is
// given back after each, so that a thousand orphans do not hold up a start.
func (r *Reaper) one() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if err == syscall.EINTR {
		return true
	}
	if err != nil || pid <= 0 {
		return false
	}
	if child, ok := r.children[pid]; ok {
		delete(r.children, pid)
		child.status = status
		close(child.done)
	}
	return true
}

// Start starts the program at path. The files of attr stay the caller's.
func (r *Reaper) Start(path string, argv []string, attr *syscall.ProcAttr) (*Child, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	child := &Child{reaper: r, pid: pid, done: make(chan struct{})}
	r.children[pid] = child
	return child, nil
}

// PID is the child's process id.
func (c *Child) PID() int { return c.pid }

// Done is closed once the child has ended and was reaped.
func (c *Child) Done() <-chan struct{} { return c.done }

// Status is how the child ended. It is valid once Done is closed.
func (c *Child) Status() syscall.WaitStatus { return c.status }

// Signal sends sig to the child. It returns os.ErrProcessDone once the child
// was reaped.
func (c *Child) Signal(sig syscall.Signal) error { return c.kill(c.pid, sig) }

// SignalGroup sends sig to the process group that the child leads.
func (c *Child) SignalGroup(sig syscall.Signal) error { return c.kill(-c.pid, sig) }

func (c *Child) kill(target int, sig syscall.Signal) error {
	c.reaper.mu.Lock()
	defer c.reaper.mu.Unlock()
	select {
	case <-c.done:
		return os.ErrProcessDone
	default:
		return syscall.Kill(target, sig)
	}
}
