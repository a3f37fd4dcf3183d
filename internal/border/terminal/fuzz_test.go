package terminal

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// FuzzExit asks that no request of a server gives a code that no process has.
func FuzzExit(f *testing.F) {
	f.Add("exit-status", []byte("\x00\x00\x00\x07"))
	f.Add("exit-signal", []byte("\x00\x00\x00\x04KILL\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		code, ok := exitCode(kind, payload)
		if code < 0 || code > 255 || !ok && code != 0 {
			t.Errorf("exitCode = %d, %v", code, ok)
		}
	})
}

// FuzzHandshake gives the client a server that says anything: Run ends with one
// printable line, and never with a session.
func FuzzHandshake(f *testing.F) {
	f.Add([]byte("SSH-2.0-x\r\n\x00\x00\x00\x0c\x0a\x14\x00\x00\x00"))
	f.Add([]byte("hello\r\nSSH-2.0-\x1b[31m\r\n\x00\x00\x00\x10\x04\x01\x00\x00\x00\x02\x00\x00\x00\x01x\x00\x00\x00\x00"))
	f.Add(append([]byte("SSH-2.0-x\r\n\x00\x00\x00\x9c\x06\x14"), make([]byte, 200)...))
	keys, err := NewKeys()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		client, server := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, server) }()
		go func() {
			_, _ = server.Write(b)
			_ = server.Close()
		}()
		code, err := Run(context.Background(), client, keys, Options{})
		if code != -1 || !errors.Is(err, ErrSetup) || strings.ContainsAny(err.Error(), "\x1b\r\n") {
			t.Errorf("Run = %d, %q", code, err)
		}
	})
}
