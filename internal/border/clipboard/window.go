package clipboard

import (
	"context"
	"slices"
	"sync"
	"time"
)

// window is what one press of the key allows: to read the types, and then one image.
type window struct {
	until time.Time
	types func() []string // reads them once; each one of kinds

	mu    sync.Mutex
	asked bool // for the types
	spent bool
}

func newWindow(until time.Time, source Source) *window {
	w := &window{until: until}
	w.types = sync.OnceValue(func() []string {
		types, err := source.Types(context.Background())
		if err != nil {
			return nil
		}
		return passing(types)
	})
	return w
}

// open tells whether the window is open at now. nil never is.
func (w *window) open(now time.Time) bool {
	if w == nil || now.After(w.until) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.spent
}

// list answers the first question.
func (w *window) list() []string {
	types := w.types()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = true
	return types
}

// take uses the window up for an image of the type, if that was named.
func (w *window) take(kind string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spent || !w.asked || !slices.Contains(w.types(), kind) {
		return false
	}
	w.spent = true
	return true
}
