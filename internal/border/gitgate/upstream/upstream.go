package upstream

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"aibox/internal/border/gitgate/pktline"
	"aibox/internal/plain"
)

// Service is a program of git's at the server.
type Service string

// The two services, for reading and for writing.
const (
	UploadPack  Service = "git-upload-pack"
	ReceivePack Service = "git-receive-pack"
)

// Repository is one repository at its server. Its errors are texts for the
// user without a prefix, and hold no login. The caller closes what it gets.
type Repository interface {
	// Advertise returns the packets of what the server offers, up to a flush;
	// more may follow it. For UploadPack it is protocol version 2.
	Advertise(ctx context.Context, service Service) (io.ReadCloser, error)
	// Exchange sends one request of size bytes, -1 if unknown, and returns the
	// server's answer, which may begin before the request has ended.
	Exchange(ctx context.Context, service Service, body io.Reader, size int64) (io.ReadCloser, error)
}

// DialFunc opens a TCP connection to host:port.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// SystemDial is the DialFunc for production: Go's own resolver, as confinement
// by package jail expects.
func SystemDial() DialFunc {
	return (&net.Dialer{Timeout: dialTime, Resolver: &net.Resolver{PreferGo: true}}).DialContext
}

// ErrVersion is for a server that speaks an older protocol only.
var ErrVersion = errors.New("the server does not speak version 2 of git's protocol")

// IsVersion2 tells whether an offer's first packet announces protocol version 2.
func IsVersion2(p pktline.Packet) bool {
	return p.Kind == pktline.Data && strings.TrimSuffix(string(p.Payload), "\n") == "version 2"
}

// Failed says what went wrong with a server and why, without addresses.
func Failed(what string, err error) error { return fmt.Errorf("%s: %w", what, cause{err}) }

// cause is an error whose text is for the VM and the user: it names the reason
// and nothing of the host's networks.
type cause struct{ error }

func (c cause) Unwrap() error { return c.error }

func (c cause) Error() string {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	var errno syscall.Errno
	var host x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch err := c.error; {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host"
	case errors.As(err, &dns):
		return "the name servers did not answer"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &host):
		return "its certificate is for another host"
	case errors.As(err, &authority):
		return "its certificate is of an unknown authority"
	case errors.As(err, &invalid):
		return plain.LineMax(invalid.Error(), maxText)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server ended the connection"
	default:
		return plain.LineMax(err.Error(), maxText)
	}
}
