package heap

import (
	"runtime"
	"testing"
)

func TestGrowthIsSeen(t *testing.T) {
	const (
		much = 64 << 20
		less = much - 1<<20 // what else was alive may have gone meanwhile
	)
	before, peak := Live(), Watch(t)
	held := make([]byte, much)
	if grown := Live() - before; grown < less {
		t.Errorf("live: %d bytes more, want %d", grown, much)
	}
	if grown := peak(); grown < less {
		t.Errorf("the heap grew by %d bytes, want %d", grown, much)
	}
	runtime.KeepAlive(held)
}
