package ninep

import (
	"io"
	"sync"
	"testing"
	"time"

	"aibox/internal/share/ninep/proto"
)

// takes returns a worker that has read a request, as next does.
func takes(t *testing.T, s *Server, r proto.Request) *worker {
	t.Helper()
	w := &worker{Server: s, request: r, limit: minMessage}
	if err := w.register(); err != nil {
		t.Fatal(err)
	}
	return w
}

type halves struct {
	io.Reader
	io.Writer
}

// A VM can have flushes wait for each other, and all of them end.
func TestFlushesOfEachOther(t *testing.T) {
	s := newServer(halves{Writer: io.Discard}, nil, Options{})
	var workers []*worker
	for i := range uint16(Workers) {
		workers = append(workers, takes(t, s, proto.Request{Type: proto.Tflush, Tag: i, OldTag: (i + 1) % Workers}))
	}
	ended := make(chan error, Workers)
	for _, w := range workers {
		go func() { ended <- w.answer() }()
	}
	for i := range workers {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of %d flushes were answered", i, Workers)
		}
	}
}

// slow is a connection that takes no bytes before it is let go.
type slow struct {
	began chan struct{} // gets one for each Write that began
	goOn  chan struct{}
	mu    sync.Mutex
	types []byte // of the messages, in their order
}

func (s *slow) Read([]byte) (int, error) { return 0, io.EOF }

func (s *slow) Write(p []byte) (int, error) {
	s.began <- struct{}{}
	<-s.goOn
	s.mu.Lock()
	defer s.mu.Unlock()
	s.types = append(s.types, p[4])
	return len(p), nil
}

// Nothing of an old session is sent beside or after the version of a new one.
func TestVersionComesAfterOldAnswers(t *testing.T) {
	conn := &slow{began: make(chan struct{}, 2), goOn: make(chan struct{})}
	s := newServer(conn, nil, Options{})
	var sent sync.WaitGroup
	old := takes(t, s, proto.Request{Type: proto.Tflush, Tag: 1, OldTag: 9})
	sent.Go(func() { _ = old.answer() })
	<-conn.began
	sent.Go(func() {
		w := &worker{Server: s, request: proto.Request{Type: proto.Tversion, Tag: proto.NoTag, Count: 8192, Name: proto.Version}}
		_ = w.begin()
	})
	select {
	case <-conn.began:
		t.Error("the version is sent while an old answer is")
	case <-time.After(50 * time.Millisecond):
	}
	close(conn.goOn)
	sent.Wait()
	if got := string(conn.types); got != string([]byte{proto.Tflush + 1, proto.Tversion + 1}) {
		t.Errorf("messages of types %v", conn.types)
	}
}
