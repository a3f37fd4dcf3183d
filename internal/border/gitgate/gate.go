package gitgate

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"aibox/internal/border/gitgate/overssh"
	"aibox/internal/border/gitgate/push"
	"aibox/internal/border/gitgate/upstream"
	"aibox/internal/wire/single"
)

// Repo is one repository of the project's config and how to log in there.
type Repo struct {
	Remote string // host/path, checked by package config
	Fetch  bool
	Push   []string // patterns of branches
	Login  Login
}

// Login is the host's login at a repository's server: SSH if it is set, else
// HTTPS, where an empty Password means none.
type Login struct {
	User, Password string
	SSH            *overssh.Login // one value for each server, however many repositories
	Why            string         // why there is no login, one printable line
}

// Recorder notes what is passed on and what is refused for proxy.log. All its
// texts are one printable line.
type Recorder interface {
	Passed(what string)
	Refused(what, why string)
	Failed(what, why string)
}

// Config is what a Gate needs. All of it comes from the host's side.
type Config struct {
	Repos    []Repo
	Recorder Recorder
	Dial     upstream.DialFunc // nil means upstream.SystemDial
	RootCAs  *x509.CertPool    // read before confinement; nil means the system's
	// Allowed tells whether the VM may reach a host through the proxy, port 443.
	// nil means no host.
	Allowed func(host string) bool
}

// Gate serves connections of one VM. It is safe for concurrent use.
type Gate struct {
	config Config
	repos  map[string]*repo // by Remote
	hosts  []*overssh.Host
	server *http.Server

	silence time.Duration
}

// repo is a repository with its server.
type repo struct {
	Repo
	server upstream.Repository
}

func (r *repo) policy() push.Policy { return push.Policy{Remote: r.Remote, Push: r.Push} }

// New returns a gate. It connects to nothing yet.
func New(c Config) *Gate {
	if c.Dial == nil {
		c.Dial = upstream.SystemDial()
	}
	if c.Recorder == nil {
		c.Recorder = nobody{}
	}
	g := &Gate{config: c, repos: map[string]*repo{}, silence: silence}
	transport := upstream.NewTransport(c.Dial, c.RootCAs)
	hosts := map[*overssh.Login]*overssh.Host{}
	for _, r := range c.Repos {
		g.repos[r.Remote] = &repo{r, g.serverOf(r, transport, hosts)}
	}
	g.server = &http.Server{
		Handler:                      http.HandlerFunc(g.handle),
		ReadHeaderTimeout:            headTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHead,
		ErrorLog:                     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // it would hold what the VM sent
		DisableGeneralOptionsHandler: true,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	return g
}

func (g *Gate) serverOf(r Repo, transport http.RoundTripper, hosts map[*overssh.Login]*overssh.Host) upstream.Repository {
	host, path, _ := strings.Cut(r.Remote, "/")
	login := r.Login.SSH
	if login == nil {
		return &upstream.HTTPS{
			Host: host, Path: path, User: r.Login.User, Password: r.Login.Password, Why: r.Login.Why, Transport: transport,
		}
	}
	if hosts[login] == nil {
		hosts[login] = overssh.NewHost(g.config.Dial, *login)
		g.hosts = append(g.hosts, hosts[login])
	}
	return overssh.Repository{Host: hosts[login], Path: path}
}

// Close ends the connections to SSH servers. Connections of the VM end by
// themselves.
func (g *Gate) Close() {
	for _, h := range g.hosts {
		h.Close()
	}
}

type nobody struct{}

func (nobody) Passed(string)          {}
func (nobody) Refused(string, string) {}
func (nobody) Failed(string, string)  {}

// Serve answers the requests of one connection and returns once it is closed.
func (g *Gate) Serve(conn net.Conn) {
	single.Serve(g.server, conn)
}

// connKey finds a request's connection.
type connKey struct{}
