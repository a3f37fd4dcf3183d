package boot

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"aibox/internal/wire"
)

// Run is the whole life of init. It returns only with an error when this is
// not process 1; otherwise it ends with the VM.
func Run() error {
	if os.Getpid() != 1 {
		return errors.New("this is the init of aibox's VM and runs as process 1 only")
	}
	took := []wire.Step{{Name: "kernel", Micros: sinceBoot().Microseconds()}}
	m := newMachine()
	go m.reaper.Run(nil)
	steps, failed := runSteps(m.steps(), time.Now, m.note)
	if failed == nil {
		failed = m.serve(append(took, steps...))
	}
	m.giveUp(failed)
	return nil
}

// sinceBoot is how long the kernel took to start init.
func sinceBoot() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return time.Duration(t.Nano())
}

// giveUp powers off; with a reason if there is one.
func (m *machine) giveUp(f *failure) {
	if f != nil {
		time.AfterFunc(offLimit, cut)
		if m.control != nil {
			bounded(termGrace, func() { report(*f, m.control, m.console) })
		} else {
			report(*f, nil, m.console)
		}
	}
	m.powerOff()
}

// serve tells the host that the VM is ready and does what it asks until it
// asks for the end. Anything else that ends it is a failure.
func (m *machine) serve(took []wire.Step) *failure {
	// From here on init passes bytes on, in short turns. With one thread at a time
	// none waits for another CPU to wake up.
	runtime.GOMAXPROCS(1)
	ended := make(chan *failure, 2)
	go func() { ended <- &failure{"link", <-m.broken} }()
	go func() {
		var f *failure
		err := safely(func() error {
			f = m.obey(took)
			return nil
		})
		if err != nil {
			f = &failure{"control", err}
		}
		ended <- f
	}()
	return <-ended
}

// obey reads the host's messages. nil is the orderly end.
func (m *machine) obey(took []wire.Step) *failure {
	ready := wire.ToHost{Ready: &wire.Ready{Steps: took}}
	if err := wire.WriteMessage(m.control, ready, wire.MaxToHost); err != nil {
		return &failure{"control", err}
	}
	for {
		var message wire.ToGuest
		if err := wire.ReadMessage(m.control, &message, wire.MaxToGuest); err != nil {
			return &failure{"control", fmt.Errorf("read message: %w", err)}
		}
		if message.Shutdown != nil {
			return nil
		}
	}
}
