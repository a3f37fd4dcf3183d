package session

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// capBounding is a line of /proc/thread-self/status.
func capBounding(t *testing.T) string {
	b, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "CapBnd:"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatal("no CapBnd")
	return ""
}

func TestThreadAloneGivesPrivilegesUp(t *testing.T) {
	before := capBounding(t)
	th, err := newThread(givePrivilegesUp)
	allowed := !errors.Is(err, unix.EPERM)
	if !allowed {
		// An ordinary user may not change the set, but has the one thread too.
		th, err = newThread(func() error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	var here, tid int
	var set string
	for range 3 {
		th.do(func() {
			set = capBounding(t)
			here = unix.Gettid()
		})
		if tid != 0 && tid != here {
			t.Errorf("work ran on threads %d and %d", tid, here)
		}
		tid = here
	}
	left, err := strconv.ParseUint(set, 16, 64)
	if keep := uint64(1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID); err != nil || allowed && left&^keep != 0 {
		t.Errorf("bounding set %s, %v, want at most %x", set, err, keep)
	}
	if after := capBounding(t); after != before {
		t.Errorf("the other threads' set changed from %s to %s", before, after)
	}
}

func TestThreadThatCannotPrepare(t *testing.T) {
	if _, err := newThread(func() error { return errors.New("no") }); err == nil {
		t.Error("newThread succeeded")
	}
}

func TestSignalNames(t *testing.T) {
	for number, want := range map[int]string{9: "KILL", 15: "TERM", 7: "BUS@aibox", 64: "UNKNOWN@aibox"} {
		if got := signalName(number); got != want {
			t.Errorf("signalName(%d) = %s, want %s", number, got, want)
		}
	}
}
