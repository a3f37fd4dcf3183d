package githost

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Site is what an HTTPS server serves, and to whom.
type Site struct {
	Root           string   // of the repositories: Root/me/app.git is https://NAME/me/app.git
	Names          []string // of the server, for its certificate
	User, Password string
	// Before answers a request in place of git and returns true, or does
	// nothing. nil is for none.
	Before func(http.ResponseWriter, *http.Request) bool
}

// HTTPS is a running server.
type HTTPS struct {
	CA     []byte // the certificate to trust, PEM
	server *http.Server

	mu   sync.Mutex
	seen []string
}

// ServeHTTPS serves the site on a listener, which it closes in the end.
func ServeHTTPS(l net.Listener, site Site) (*HTTPS, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	config, ca, err := certificate(site.Names)
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(site.Root)
	if err != nil {
		return nil, err
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: root, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + site.User, "HOME=" + root},
	}
	h := &HTTPS{CA: ca}
	h.server = &http.Server{TLSConfig: config, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.saw(r)
		if site.Before != nil && site.Before(w, r) {
			return
		}
		if user, password, _ := r.BasicAuth(); user != site.User || password != site.Password {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "login", http.StatusUnauthorized)
			return
		}
		r.TransferEncoding = nil // net/http/cgi takes no chunks, git's backend does
		backend.ServeHTTP(w, r)
	})}
	go func() { _ = h.server.ServeTLS(l, "", "") }()
	return h, nil
}

// Close ends the server.
func (h *HTTPS) Close() { _ = h.server.Close() }

func (h *HTTPS) saw(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, fmt.Sprint(r.Method, " ", r.Host, r.URL.RequestURI()))
}

// Seen are the requests so far, each as "GET HOST/PATH".
func (h *HTTPS) Seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.seen...)
}

// certificate makes one that signs itself.
func certificate(names []string) (*tls.Config, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return config, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
