//go:build !linux

package landlock

import (
	"runtime"
	"strings"
	"testing"
)

func TestRestrictNotYet(t *testing.T) {
	if err := Restrict(Rules{}); err == nil || !strings.Contains(err.Error(), "not yet on "+runtime.GOOS) {
		t.Errorf("error %v", err)
	}
}
