package gitgate

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aibox/internal/border/gitgate/route"
)

// watchedWriter counts the limits that are set on its connection.
type watchedWriter struct {
	http.ResponseWriter
	set atomic.Int32
}

func (w *watchedWriter) SetReadDeadline(time.Time) error  { w.set.Add(1); return nil }
func (w *watchedWriter) SetWriteDeadline(time.Time) error { w.set.Add(1); return nil }

// TestSilenceAfterTheEnd has a last byte of a body noted after its exchange: by the
// time the silence is over the connection serves another one.
func TestSilenceAfterTheEnd(t *testing.T) {
	for _, ended := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g, _ := fakeGate(&fakeServer{})
			w := &watchedWriter{ResponseWriter: httptest.NewRecorder()}
			x, err := g.begin(w, httptest.NewRequest(http.MethodPost, fetchURI, nil), route.Target{}, g.repos[testRepo])
			if err != nil {
				t.Fatal(err)
			}
			defer x.end()
			if ended {
				x.end()
			}
			x.touch()
			time.Sleep(2 * silence)
			if got := w.set.Load() > 0; got == ended {
				t.Errorf("ended %v: %d limits were set", ended, w.set.Load())
			}
		})
	}
}
