package single

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

func TestServe(t *testing.T) {
	here, there := net.Pipe()
	var aborted *Conn
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/abort" {
			aborted.Abort()
			return
		}
		_, _ = io.WriteString(w, r.URL.Path)
	}), ConnState: func(c net.Conn, _ http.ConnState) { aborted = c.(*Conn) }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Serve(s, there)
	}()
	answers := bufio.NewReader(here)
	for _, path := range []string{"/one", "/two"} {
		if _, err := io.WriteString(here, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(answer.Body); err != nil || string(body) != path {
			t.Errorf("%q, %v, want %q", body, err, path)
		}
	}
	if _, err := io.WriteString(here, "GET /abort HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := answers.ReadByte(); err != io.EOF {
		t.Errorf("after an abort: %v", err)
	}
	<-ended // Serve returns once the connection is closed
}
