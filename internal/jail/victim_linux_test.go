package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A victim is a copy of the test binary that confines itself and then tries
// what it is told, since a policy cannot be undone. victimEnv makes a copy one.
const victimEnv = "AIBOX_TEST_VICTIM"

// Numbers of the victim's open files.
const (
	logFD   = 3
	ttyFD   = 4
	lifeFD  = 5 // held by the victim's child; closed when that ends
	leashFD = 6 // the child's standard input; it ends with that
)

// patience bounds each thing a victim tries, and each victim.
const patience = 20 * time.Second

// scene is what the test tells its victim.
type scene struct {
	Policy   Policy
	Confined bool
	Actions  []string

	Dir                    string // a folder of the user's with files to attack
	Allowed, Refused, TLS  string // addresses of listeners on the loopback
	Refused6               string
	UnixPath, UnixAbstract string
	UnixDatagram           string
	DNS                    string
	CA                     []byte // certificate of the TLS listener
	SSH                    string
	SSHKey                 []byte
	Hold                   bool // stay until standard input ends
}

// action is one thing a victim tries.
type action struct {
	name string
	try  func(*stage) error
	// lacks are errors of a machine that does not have the thing at all.
	lacks []syscall.Errno
}

// stage is what a victim prepared before it was confined.
type stage struct {
	scene
	log, tty *os.File
	child    *exec.Cmd
	threads  []chan func()
}

// result is what came of one action: Err is empty for success.
type result struct {
	Name    string
	Err     string
	Refused bool // EPERM or EACCES
	Lacking bool // one of the action's lacks
}

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) == "" {
		os.Exit(m.Run())
	}
	if err := victim(); err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(1)
	}
}

func victim() error {
	in := json.NewDecoder(os.Stdin)
	s := &stage{log: os.NewFile(logFD, "log"), tty: os.NewFile(ttyFD, "tty")}
	if err := in.Decode(&s.scene); err != nil {
		return err
	}
	s.startThreads(6)
	if err := s.startChild(); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if s.Confined {
		s.Policy.Children = append(s.Policy.Children, s.child.Process.Pid)
		if _, err := Apply(s.Policy); err != nil {
			return err
		}
	}
	for _, name := range s.Actions {
		if err := out.Encode(s.run(name)); err != nil {
			return err
		}
	}
	if s.Hold {
		_, err := io.Copy(io.Discard, io.MultiReader(in.Buffered(), os.Stdin))
		return err
	}
	return nil
}

func (s *stage) run(name string) result {
	for _, a := range append(forbidden(), allowed()...) {
		if a.name != name {
			continue
		}
		done := make(chan error, 1)
		go func() { done <- a.try(s) }()
		var err error
		select {
		case err = <-done:
		case <-time.After(patience):
			err = errors.New("took too long")
		}
		r := result{Name: name}
		if err != nil {
			r.Err = err.Error()
			r.Refused = errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)
		}
		for _, l := range a.lacks {
			r.Lacking = r.Lacking || errors.Is(err, l)
		}
		return r
	}
	if nr, ok := lethalCalls()[name]; ok {
		return result{Name: name, Err: rawCall(nr)}
	}
	return result{Name: name, Err: "no such action"}
}

// startThreads makes operating system threads that exist before the policy.
func (s *stage) startThreads(n int) {
	for range n {
		work := make(chan func())
		ready := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(ready)
			for f := range work {
				f()
			}
		}()
		<-ready
		s.threads = append(s.threads, work)
	}
}

// startChild starts a child as package proc does: in a group of its own, and
// killed when the thread that started it ends.
func (s *stage) startChild() error {
	life, leash := os.NewFile(lifeFD, "life"), os.NewFile(leashFD, "leash")
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		s.child = exec.Command("/bin/cat")
		s.child.Stdin = leash
		s.child.ExtraFiles = []*os.File{life}
		s.child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		started <- s.child.Start()
		select {}
	}()
	err := <-started
	life.Close()
	leash.Close()
	return err
}
