package relay

import "io"

// Join carries bytes between a and b until both directions have ended, and
// closes both. The end of one direction is passed on and leaves the other
// open; an error in one ends both, since what was meant to arrive is lost.
func Join(a, b Conn) {
	defer a.Close()
	defer b.Close()
	back := make(chan struct{})
	go func() {
		defer close(back)
		oneWay(a, b)
	}()
	oneWay(b, a)
	<-back
}

func oneWay(to, from Conn) {
	_, err := io.CopyBuffer(writerOnly{to}, readerOnly{from}, make([]byte, 32<<10))
	if err == nil {
		err = to.CloseWrite()
	}
	if err != nil {
		to.Close()
		from.Close()
	}
}

// readerOnly and writerOnly hide methods by which io.Copy would take another
// buffer than the one it was given.
type (
	readerOnly struct{ io.Reader }
	writerOnly struct{ io.Writer }
)
