//go:build hostile

package hostile

import (
	"testing"

	"aibox/test/proclist"
)

// processes lists those of this user that are alive.
func processes(t *testing.T) []proclist.Process {
	t.Helper()
	all, err := proclist.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// descendants lists a process and all below it.
func descendants(t *testing.T, ancestor int) []proclist.Process {
	t.Helper()
	found, err := proclist.Below(ancestor)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
