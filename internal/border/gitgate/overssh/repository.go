package overssh

import (
	"context"
	"errors"
	"io"
	"sync"

	"aibox/internal/border/gitgate/pktline"
	"aibox/internal/border/gitgate/upstream"
)

// Repository is a repository at an SSH server; an upstream.Repository.
type Repository struct {
	Host *Host
	Path string
}

// Advertise starts the service and returns its offer.
func (r Repository) Advertise(ctx context.Context, service upstream.Service) (io.ReadCloser, error) {
	s, err := r.Host.open(ctx, service, r.Path)
	if err != nil {
		return nil, err
	}
	if err := s.answers(); err != nil {
		s.close(false)
		return nil, err
	}
	return &parting{s.out, s}, nil
}

// answers waits for the first byte.
func (s *session) answers() error {
	if _, err := s.out.Peek(1); errors.Is(err, io.EOF) {
		return s.failure()
	} else if err != nil {
		return upstream.Failed("read from the SSH server", err)
	}
	return nil
}

// parting tells the program that nothing is wanted before it is ended.
type parting struct {
	io.Reader
	s *session
}

func (p *parting) Close() error {
	if _, err := p.s.in.Write(pktline.AppendFlush(nil)); err != nil {
		return p.s.Close()
	}
	_ = p.s.in.Close()
	p.s.close(true)
	return nil
}

// Exchange starts the service anew, skips its offer, and sends the request.
func (r Repository) Exchange(ctx context.Context, service upstream.Service, body io.Reader, _ int64) (io.ReadCloser, error) {
	s, err := r.Host.open(ctx, service, r.Path)
	if err != nil {
		return nil, err
	}
	if err := s.skipOffer(service); err != nil {
		s.close(false)
		return nil, err
	}
	a := &answer{session: s}
	go a.send(body)
	return a, nil
}

func (s *session) skipOffer(service upstream.Service) error {
	if err := s.answers(); err != nil {
		return err
	}
	pkt := pktline.NewReader(s.out)
	for first := true; ; first = false {
		p, err := pkt.Next()
		switch {
		case err != nil:
			return upstream.Failed("read what the SSH server offers", err)
		case p.Kind == pktline.Flush:
			return nil
		case first && service == upstream.UploadPack && !upstream.IsVersion2(p):
			return upstream.ErrVersion
		}
	}
}

// answer is what a program says to a request.
type answer struct {
	*session
	some bool // a byte was read

	mu  sync.Mutex
	err error // why the request could not be read
}

// send passes the request on. One that cannot be read to its end must not look
// complete: the session ends instead.
func (a *answer) send(body io.Reader) {
	source := &noting{Reader: body}
	_, err := io.CopyBuffer(struct{ io.Writer }{a.in}, struct{ io.Reader }{source}, make([]byte, bufferSize))
	if err == nil {
		_ = a.in.Close()
		return
	}
	if source.err != nil {
		a.mu.Lock()
		a.err = source.err
		a.mu.Unlock()
		_ = a.ssh.Close()
	} // else the program ended early, and its answer says why
}

// Read ends with the request's error if there was one.
func (a *answer) Read(b []byte) (int, error) {
	n, err := a.out.Read(b)
	a.some = a.some || n > 0
	if err == nil {
		return n, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return n, a.err
	case errors.Is(err, io.EOF) && !a.some:
		return n, a.failure()
	case errors.Is(err, io.EOF):
		a.close(true)
		return n, io.EOF
	}
	return n, upstream.Failed("read from the SSH server", err)
}

// noting remembers why reading ended, if not at the end.
type noting struct {
	io.Reader
	err error
}

func (r *noting) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
