package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// server serves a handler on a port of its own on 127.0.0.1.
type server struct {
	http http.Server
	addr *net.TCPAddr
	done chan struct{}
}

// serve starts a server. What clients do wrong is not logged: Claude Code's own
// message and the steps tell it.
func serve(handler http.Handler) (*server, error) {
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the demo: %w", err)
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("listen for the demo: address %v is not of TCP", l.Addr()), l.Close())
	}
	s := &server{addr: addr, done: make(chan struct{})}
	s.http = http.Server{
		Handler:        handler,
		ReadTimeout:    readTimeout,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // ends with ErrServerClosed
	}()
	return s, nil
}

func (s *server) url() string { return "http://" + s.addr.String() }

// close ends the server and all its connections.
func (s *server) close() {
	_ = s.http.Close()
	<-s.done
}

// page serves one page that holds token, and tells seen when it was fetched.
func page(token string, seen func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		seen()
		_, _ = io.WriteString(w, "This page is on the host. Token: "+token+"\n")
	})
}
