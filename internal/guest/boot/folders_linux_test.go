package boot

import (
	"slices"
	"testing"
)

func TestTargetsAreClean(t *testing.T) {
	for _, target := range []string{"", "x", "/", "/a/../b", "/a/", "//a"} {
		if _, err := new(machine).place(target, true); err == nil {
			t.Errorf("place(%q) succeeded", target)
		}
	}
	for name, want := range map[string]bool{"project": true, "m0": true, "": false, "..": false, "a/b": false, "A": false} {
		if got := validShare(name); got != want {
			t.Errorf("validShare(%q) = %v", name, got)
		}
	}
}

// What must hold for any order of the boot table.
func TestTable(t *testing.T) {
	var order []string
	must := map[string]bool{}
	for _, s := range new(machine).steps() {
		if s.do == nil || s.name == "" || must[s.name] {
			t.Errorf("step %q is incomplete or doubled", s.name)
		}
		order = append(order, s.name)
		must[s.name] = s.must
	}
	for _, pair := range [][2]string{
		{"root", "kernel file systems"}, {"kernel file systems", "devices"}, {"kernel file systems", "control groups"},
		{"devices", "link"}, {"link", "boot message"}, {"loopback", "forwarders"},
		{"boot message", "clock"}, {"boot message", "host name"}, {"boot message", "time zone"}, {"boot message", "user"},
		{"boot message", "state disk"}, {"boot message", "shares"}, {"boot message", "forwarders"}, {"boot message", "session server"},
		{"state disk", "folders"}, {"shares", "folders"}, {"folders", "home"}, {"control groups", "session server"},
		{"forwarders", "read-only root"}, {"claude code", "read-only root"}, {"clipboard programs", "read-only root"},
		{"session server", "sessions"}, {"folders", "sessions"},
	} {
		if a, b := slices.Index(order, pair[0]), slices.Index(order, pair[1]); a < 0 || b < 0 || a >= b {
			t.Errorf("%s must come before %s", pair[0], pair[1])
		}
	}
	// A command that starts before finds privileges of programs still honoured.
	if last := order[len(order)-2:]; !slices.Equal(last, []string{"read-only root", "sessions"}) {
		t.Errorf("the last steps are %q", last)
	}
	for _, name := range []string{"root", "user", "folders", "read-only root", "forwarders", "session server", "sessions", "control groups"} {
		if !must[name] {
			t.Errorf("step %s may fail", name)
		}
	}
}

func TestFileCapability(t *testing.T) {
	want := []byte{1, 0, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if got := fileCapability(7); !slices.Equal(got, want) {
		t.Errorf("fileCapability(7) = %x, want %x", got, want)
	}
}
