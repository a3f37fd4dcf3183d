package files

import (
	"io"
	"net"
	"sync/atomic"
)

// relay carries the one 9p stream of a VM to its server. It looks at no byte.
type relay struct {
	server io.ReadWriteCloser
	taken  atomic.Bool
}

func newRelay(server io.ReadWriteCloser) *relay { return &relay{server: server} }

// relayBuffer is a direction's buffer in bytes.
const relayBuffer = 64 << 10

// serve carries the first stream to the end of either side, which ends both: a
// VM mounts once, and another stream would speak in the middle of the first.
func (r *relay) serve(stream net.Conn) {
	if r.taken.Swap(true) {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		carry(stream, r.server)
	}()
	carry(r.server, stream)
	<-back
}

func carry(to io.WriteCloser, from io.ReadCloser) {
	// An error is the end of one side, which its owner notices.
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, relayBuffer))
	to.Close()
	from.Close()
}
