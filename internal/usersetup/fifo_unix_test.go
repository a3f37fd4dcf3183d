//go:build unix

package usersetup

import (
	"syscall"
	"testing"
)

// Nobody writes into the FIFO: to wait for it would hang every start.
func TestFIFOsAreLeftOut(t *testing.T) {
	u := newUser(t)
	for _, name := range []string{"skills", "CLAUDE.md", "settings.json"} {
		if err := syscall.Mkfifo(u.path(".claude/"+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s := u.read(); s.Folders != nil || s.Copied.Memory != nil || s.Copied.Settings != nil || len(s.LeftOut) != 3 {
		t.Errorf("%+v", s)
	}
}
