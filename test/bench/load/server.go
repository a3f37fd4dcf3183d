// Package load is the host's side of the work on the network: the server that
// answers, and clients that load a proxy.
package load

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"aibox/test/bench/work"
)

// Server answers what package work and Drive ask.
type Server struct {
	Addr string // 127.0.0.1:PORT
	http *http.Server
}

// Serve starts a server on the host's loopback.
func Serve() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{l.Addr().String(), &http.Server{Handler: handler(), ReadHeaderTimeout: time.Minute}}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// Port is the number in Addr.
func (s *Server) Port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// Close ends it.
func (s *Server) Close() { _ = s.http.Close() }

func handler() http.Handler {
	chunk, small := make([]byte, 256<<10), make([]byte, work.SmallBytes)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+work.PathBig, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(work.TransferMB<<20))
		for range work.TransferMB << 20 / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("GET "+work.PathSmall, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(small) })
	mux.HandleFunc("POST "+work.PathTake, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	return mux
}
