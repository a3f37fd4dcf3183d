package results

import (
	"errors"
	"io"
	"net"
	"sync"
)

// Live is a file that the VM sends while it works, over one stream: what came
// is stored also if the VM dies.
type Live struct {
	// To takes the contents, of which Limit bytes are stored.
	To    io.Writer
	Limit int64

	once sync.Once // by the one stream, or by End
	size int64
	err  error
}

// errOver says that the VM does not keep to a limit that it knows.
var errOver = errors.New("the VM sent more than the limit")

// Serve stores what comes over conn until the VM ends its side, and returns once
// all is stored, by which the VM learns of it. It serves the first stream alone.
// What the host cannot store is read and dropped, so that the VM is not held up.
func (l *Live) Serve(conn net.Conn) {
	l.once.Do(func() { l.store(conn) })
}

func (l *Live) store(r io.Reader) {
	to := counter{l.To, func(n int) { l.size += int64(n) }}
	_, err := io.Copy(to, io.LimitReader(r, l.Limit))
	full := (*StoreError)(nil)
	if errors.As(err, &full) {
		l.err = full
		_, err = io.Copy(io.Discard, io.LimitReader(r, l.Limit))
	}
	if n, _ := r.Read(make([]byte, 1)); err == nil && n > 0 {
		err = errOver
	}
	if l.err == nil {
		l.err = err
	}
}

// End returns how many bytes were stored, and why it is not all: a *StoreError
// where the host could not, another error where the VM did not end its stream as
// it should. It waits for a stream that is being served, so it is for after the
// link's end, and lets no other one begin.
func (l *Live) End() (size int64, err error) {
	l.once.Do(func() {})
	return l.size, l.err
}
