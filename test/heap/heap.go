// Package heap measures this process's heap, for tests of what must take little.
package heap

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// samplePause is the time between two looks of Watch.
const samplePause = 5 * time.Millisecond

// Live is what the process's live objects take, in bytes.
func Live() int64 {
	runtime.GC()
	return size()
}

// Watch looks at the heap until peak is called, which returns by how many bytes
// it grew at most, garbage included.
func Watch(t testing.TB) (peak func() int64) {
	t.Helper()
	base := Live()
	top := base
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(samplePause)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				top = max(top, size())
				return
			case <-tick.C:
				top = max(top, size())
			}
		}
	}()
	end := sync.OnceFunc(func() { close(stop); <-stopped })
	t.Cleanup(end)
	return func() int64 {
		end()
		return top - base
	}
}

func size() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
