package proc

import (
	"syscall"
	"time"
)

// killTime bounds the wait for the end after SIGKILL. A process in an
// uninterruptible system call can outlast it.
const killTime = 3 * time.Second

// Stop ends the program: SIGTERM to its process group, up to grace for it to
// end by itself, then as Kill. A caged program gets no SIGTERM, since the kernel
// ignores it for the first process of a namespace; Stop then waits for grace.
func (p *Process) Stop(grace time.Duration) {
	p.signal(syscall.SIGTERM)
	if !p.waited(grace) {
		p.Kill()
	}
}

// Kill ends the program and its process group with SIGKILL and waits for Done
// for at most three seconds.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	p.waited(killTime)
}

func (p *Process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	signalGroup(p.os.Pid, sig)
	if sig == syscall.SIGKILL {
		_ = p.os.Kill() // the group may not exist on this system
	}
}

func (p *Process) waited(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}
