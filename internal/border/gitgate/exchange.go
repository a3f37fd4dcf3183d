package gitgate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"aibox/internal/border/gitgate/body"
	"aibox/internal/border/gitgate/route"
	"aibox/internal/wire/single"
)

// exchange is one request while it is served.
type exchange struct {
	gate    *Gate
	ctx     context.Context // ends with the request, and by silence
	cancel  context.CancelFunc
	w       http.ResponseWriter
	control *http.ResponseController
	conn    *single.Conn
	repo    *repo
	target  route.Target
	body    *body.Body

	watch  *time.Timer
	silent atomic.Bool
	mu     sync.Mutex // guards ended, while expire acts on the connection too
	ended  bool
}

// begin prepares an exchange and its watch over silence.
func (g *Gate) begin(w http.ResponseWriter, r *http.Request, t route.Target, listed *repo) (*exchange, error) {
	x := &exchange{gate: g, w: w, control: http.NewResponseController(w), repo: listed, target: t}
	x.conn, _ = r.Context().Value(connKey{}).(*single.Conn)
	x.ctx, x.cancel = context.WithCancel(r.Context())
	x.watch = time.AfterFunc(g.silence, x.expire)
	_ = x.control.EnableFullDuplex() // the answer may begin before the request has ended
	x.body = body.New(r.Body, x.touch)
	switch encoding := r.Header["Content-Encoding"]; {
	case len(encoding) == 0 || len(encoding) == 1 && encoding[0] == "identity":
	case len(encoding) == 1 && (encoding[0] == "gzip" || encoding[0] == "x-gzip"):
		x.body = body.Gunzip(r.Body, x.touch)
	default:
		x.end()
		return nil, errors.New("a body in an encoding other than gzip")
	}
	return x, nil
}

func (x *exchange) end() {
	x.mu.Lock()
	x.ended = true
	x.mu.Unlock()
	x.watch.Stop()
	x.cancel()
}

func (x *exchange) touch() { x.watch.Reset(x.gate.silence) }

// expire ends all waiting, with time for an answer. After the exchange's end, when
// a last byte of its body may have been noted late, the connection is another's.
func (x *exchange) expire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	x.silent.Store(true)
	x.cancel()
	_ = x.control.SetReadDeadline(time.Now())
	_ = x.control.SetWriteDeadline(time.Now().Add(lastWords))
}

// reason is why an exchange failed, for the VM and the log.
func (x *exchange) reason(err error) string {
	if x.silent.Load() {
		return "nothing was sent for " + x.gate.silence.String()
	}
	return err.Error()
}

// send passes a request on to the server, with its length if it is short, and
// returns the answer.
func (x *exchange) send(request io.Reader) (io.ReadCloser, error) {
	start, err := io.ReadAll(io.LimitReader(request, maxBuffered+1))
	if err != nil {
		return nil, err
	}
	if len(start) <= maxBuffered {
		return x.repo.server.Exchange(x.ctx, x.target.Service, bytes.NewReader(start), int64(len(start)))
	}
	return x.repo.server.Exchange(x.ctx, x.target.Service, io.MultiReader(bytes.NewReader(start), request), -1)
}

// begun writes the head of a successful answer.
func (x *exchange) begun() {
	kind := "result"
	if x.target.Offer {
		kind = "advertisement"
	}
	x.w.Header().Set("Content-Type", "application/x-"+string(x.target.Service)+"-"+kind)
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
}

// answer passes the server's answer on as it comes. One that breaks must not
// look complete to the VM.
func (x *exchange) answer(from io.Reader) {
	x.begun()
	buf := make([]byte, bufferSize)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			x.touch()
			if _, err := x.w.Write(buf[:n]); err != nil {
				return
			}
			_ = x.control.Flush()
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			x.gate.config.Recorder.Failed(x.target.String(), line(x.reason(err)))
			x.conn.Abort()
			return
		}
	}
}
