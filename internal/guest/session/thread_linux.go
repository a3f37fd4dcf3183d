package session

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// The limits of open files, as on other systems: programs that can use more
// raise theirs, and those that call select(2) must not get more.
const (
	softFiles = 1024
	hardFiles = 524288
)

// thread is the one thread that starts sessions. What it gave up, each of them
// lacks from its first instruction, while init's other threads keep it.
type thread struct{ work chan func() }

// newThread starts a thread that prepare has run on.
func newThread(prepare func() error) (*thread, error) {
	t := &thread{work: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: no other goroutine may get it
		err := prepare()
		ready <- err
		if err != nil {
			return
		}
		for f := range t.work {
			f()
		}
	}()
	return t, <-ready
}

// do runs f on the thread and waits for it.
func (t *thread) do(f func()) {
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

// givePrivilegesUp empties the calling thread's bounding set but for the two
// capabilities that newuidmap and newgidmap need. A program outside this set
// cannot get a privilege back, not even one that is set-user-id root; user
// namespaces have sets of their own.
func givePrivilegesUp() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if c == unix.CAP_SETUID || c == unix.CAP_SETGID {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL { // not known to this kernel
			continue
		}
		if err != nil {
			return fmt.Errorf("drop privilege %d: %w", c, err)
		}
	}
	return nil
}
