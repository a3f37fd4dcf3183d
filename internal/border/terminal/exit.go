package terminal

import (
	"sync"

	"golang.org/x/crypto/ssh"
)

// exit is what the server told of the command's end.
type exit struct {
	told chan struct{} // closed when it told the first time
	over chan struct{} // closed when the channel or the connection ended

	mu   sync.Mutex
	code int
	ok   bool
}

// watchExit reads the requests of the session's channel until they end. The
// first exit status counts. It calls flood after MaxRequests requests.
func watchExit(requests <-chan *ssh.Request, flood func()) *exit {
	e := &exit{told: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(e.over)
		n := 0
		for r := range requests {
			if n++; n == MaxRequests {
				flood()
			}
			if code, ok := exitCode(r.Type, r.Payload); ok {
				e.tell(code)
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	}()
	return e
}

func (e *exit) tell(code int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ok {
		e.code, e.ok = code, true
		close(e.told)
	}
}

// result returns the exit code and whether the server told one.
func (e *exit) result() (int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.code, e.ok
}

// exitCode is pure: it reads one request. A status that no process can have
// becomes 255, so that none is cut down to 0 on its way to the shell.
func exitCode(kind string, payload []byte) (int, bool) {
	switch kind {
	case "exit-status":
		var m exitStatus
		if ssh.Unmarshal(payload, &m) != nil {
			return 0, false
		}
		return int(min(m.Status, 255)), true
	case "exit-signal":
		var m exitSignal
		if ssh.Unmarshal(payload, &m) != nil {
			return 0, false
		}
		return 128 + signalNumber(m.Signal), true
	}
	return 0, false
}

// signalNumber returns Linux's number of a signal named as in RFC 4254; 0 for
// a name that is not known.
func signalNumber(name string) int {
	for number, n := range []string{
		1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL",
		10: "USR1", 11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 16: "STKFLT", 17: "CHLD",
		18: "CONT", 19: "STOP", 20: "TSTP", 21: "TTIN", 22: "TTOU", 23: "URG", 24: "XCPU", 25: "XFSZ",
		26: "VTALRM", 27: "PROF", 28: "WINCH", 29: "IO", 30: "PWR", 31: "SYS",
	} {
		if n != "" && n == name {
			return number
		}
	}
	return 0
}
