package overssh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"aibox/internal/border/gitgate/upstream"
	"aibox/internal/plain"

	"golang.org/x/crypto/ssh"
)

// session is one program that runs at an SSH server.
type session struct {
	ssh    *ssh.Session
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *capped
	exited chan struct{} // closed once the server has closed the session
	// close gives the session back. With leave it lets the program end by
	// itself, which has nothing more to do.
	close func(leave bool)
}

// Close ends the program.
func (s *session) Close() error {
	s.close(false)
	return nil
}

// open starts the service for a path, over a new connection if the one that is
// there turns out to be broken.
func (h *Host) open(ctx context.Context, service upstream.Service, path string) (*session, error) {
	if err := h.acquire(ctx); err != nil {
		return nil, err
	}
	s, err := h.tryOpen(ctx, service, path)
	if err != nil {
		<-h.slots
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.ssh.Close() })
	var once sync.Once
	s.close = func(leave bool) {
		once.Do(func() {
			stop()
			if !leave {
				_ = s.ssh.Close()
			}
			go func() { // the server counts the session until its program has ended
				s.waitExit()
				_ = s.ssh.Close()
				<-h.slots
			}()
		})
	}
	return s, nil
}

func (h *Host) tryOpen(ctx context.Context, service upstream.Service, path string) (*session, error) {
	for tries := 1; ; tries++ {
		client, reused, err := h.connect(ctx)
		if err != nil {
			return nil, err
		}
		s, err := startInTime(ctx, client, service, path)
		var refused *ssh.OpenChannelError
		switch {
		case err == nil:
			return s, nil
		case ctx.Err() != nil:
			return nil, upstream.Failed("open a session at the SSH server", ctx.Err())
		case errors.As(err, &refused) && tries == maxOpens:
			return nil, upstream.Failed("the SSH server opens no session", err)
		case errors.As(err, &refused): // it may take fewer at once, or not have noticed an end yet
			wait(ctx, time.Duration(tries)*openPause)
			continue
		}
		h.drop(client)
		if !reused {
			return nil, upstream.Failed("open a session at the SSH server", err)
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// startInTime starts a session, whose requests know no deadline of their own.
func startInTime(ctx context.Context, client *ssh.Client, service upstream.Service, path string) (*session, error) {
	type result struct {
		s   *session
		err error
	}
	done := make(chan result, 1)
	go func() {
		s, err := start(client, service, path)
		done <- result{s, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, sessionTime)
	defer cancel()
	select {
	case r := <-done:
		return r.s, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				_ = r.s.ssh.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

func start(client *ssh.Client, service upstream.Service, path string) (*session, error) {
	raw, err := client.NewSession()
	if err != nil {
		return nil, err
	}
	s := &session{ssh: raw, stderr: &capped{}, exited: make(chan struct{})}
	raw.Stderr = s.stderr
	if err := s.run(service, path); err != nil {
		_ = raw.Close()
		return nil, err
	}
	go func() {
		_ = raw.Wait()
		close(s.exited)
	}()
	return s, nil
}

// run asks for protocol version 2 by the variable that git uses. A server that
// takes no variables may still run a program that sets it.
func (s *session) run(service upstream.Service, path string) error {
	in, err := s.ssh.StdinPipe()
	if err != nil {
		return err
	}
	out, err := s.ssh.StdoutPipe()
	if err != nil {
		return err
	}
	command := string(service) + " '" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	if service == upstream.UploadPack && s.ssh.Setenv("GIT_PROTOCOL", "version=2") != nil {
		command = "env GIT_PROTOCOL=version=2 " + command
	}
	s.in, s.out = in, bufio.NewReaderSize(out, bufferSize)
	return s.ssh.Start(command)
}

// waitExit waits for the program's end, for a moment.
func (s *session) waitExit() {
	timer := time.NewTimer(exitTime)
	defer timer.Stop()
	select {
	case <-s.exited:
	case <-timer.C:
	}
}

// failure says why a program answered nothing.
func (s *session) failure() error {
	s.waitExit()
	if text := s.stderr.last(); text != "" {
		return fmt.Errorf("the SSH server says: %s", text)
	}
	return errors.New("the SSH server ended the session without an answer")
}

// capped keeps the first bytes written to it.
type capped struct {
	mu  sync.Mutex
	buf []byte
}

func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buf = append(c.buf, b[:min(len(b), maxStderr-len(c.buf))]...)
	return len(b), nil
}

// last is the lines as one printable one.
func (c *capped) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return plain.LineMax(strings.Join(strings.Fields(string(c.buf)), " "), maxText)
}
