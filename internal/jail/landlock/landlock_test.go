package landlock

import (
	"testing"
)

func TestEnforces(t *testing.T) {
	since := map[Limit]int{Files: 1, TCP: 4, AbstractSockets: 6, Signals: 6, PathSockets: 9, UDP: 10}
	for limit, first := range since {
		for abi := range newestABI + 1 {
			if got := Enforces(abi, limit); got != (abi >= first) {
				t.Errorf("Enforces(%d, %d) = %v", abi, limit, got)
			}
		}
	}
	if Enforces(newestABI, Limit(99)) {
		t.Error("an unknown limit is enforced")
	}
}
