package proc

import (
	"os"
	"runtime"
	"sync"
)

// starter runs every fork on one operating system thread that lives as long as
// aibox. The kernel sends a parent-death signal when the thread that forked
// ends, not when the process does, and Go ends threads as it likes. The one
// goroutine behind it is started by the first Start and never ends.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread() // and never unlocked
		for f := range work {
			f()
		}
	}()
	return work
})

func onThread(start func() (*os.Process, error)) (p *os.Process, err error) {
	done := make(chan struct{})
	starter() <- func() {
		defer close(done)
		p, err = start()
	}
	<-done
	return p, err
}
