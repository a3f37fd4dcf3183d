package gitlogin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"aibox/internal/border/gitgate"
	"aibox/internal/border/gitgate/overssh"
	"aibox/internal/plain"
	"aibox/internal/proc"
)

// Host is where git and ssh are asked.
type Host struct {
	Home string   // the user's home folder
	Env  []string // aibox's environment, of which the programs get a part
	// Git and SSH are the programs' paths; empty means to look for them.
	Git, SSH string
}

// Remote is a repository of the project's config.
type Remote struct {
	Remote string // host/path, checked by package config
	Fetch  bool
	Push   []string
}

// Logins is what was found. The agents' connections stay open until Close.
type Logins struct {
	Repos  []gitgate.Repo // as the remotes asked for, in order
	agents []net.Conn
}

// Close ends the connections to agents.
func (l *Logins) Close() {
	for _, a := range l.agents {
		_ = a.Close()
	}
}

// Ports are the TCP ports that the repositories are reached by, sorted.
func (l *Logins) Ports() []uint16 {
	var ports []uint16
	for _, r := range l.Repos {
		port := uint16(443)
		if r.Login.SSH != nil {
			_, text, _ := net.SplitHostPort(r.Login.SSH.Address)
			n, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				continue
			}
			port = uint16(n)
		}
		ports = append(ports, port)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// Missing says in one printable line for each repository without a login why
// that is, for the user at the start of a run.
func (l *Logins) Missing() []string {
	var lines []string
	for _, r := range l.Repos {
		if r.Login.Why != "" {
			lines = append(lines, "no login for "+r.Remote+": "+r.Login.Why)
		}
	}
	return lines
}

// asker asks for all remotes of one call.
type asker struct {
	host Host
	env  []string
	time time.Duration

	mu     sync.Mutex
	ssh    map[string]*sshAnswer // by host
	agents map[string]*agentConn // by socket
}

// Ask asks for the logins of all remotes. What is missing for one of them is
// no error but said in its Login.Why. It starts programs, so it must be called
// before aibox is confined.
func Ask(ctx context.Context, h Host, remotes []Remote) (*Logins, error) {
	a := &asker{host: h, env: environment(h), time: askTime, ssh: map[string]*sshAnswer{}, agents: map[string]*agentConn{}}
	l := &Logins{Repos: make([]gitgate.Repo, len(remotes))}
	slots, all := make(chan struct{}, parallel), sync.WaitGroup{}
	for i, r := range remotes {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			l.Repos[i] = gitgate.Repo{Remote: r.Remote, Fetch: r.Fetch, Push: r.Push, Login: a.login(ctx, r.Remote)}
		})
	}
	all.Wait()
	for _, c := range a.agents {
		if c.conn != nil {
			l.agents = append(l.agents, c.conn)
		}
	}
	if err := ctx.Err(); err != nil {
		l.Close()
		return nil, fmt.Errorf("ask for git logins: %w", err)
	}
	return l, nil
}

// login asks git, and then ssh.
func (a *asker) login(ctx context.Context, remote string) gitgate.Login {
	host, path, _ := strings.Cut(remote, "/")
	user, password, err := a.credential(ctx, host, path)
	if err == nil {
		return gitgate.Login{User: user, Password: password}
	}
	noGit := err.Error()
	login, err := a.sshLogin(ctx, host)
	if err == nil {
		return gitgate.Login{SSH: login}
	}
	return gitgate.Login{Why: plain.LineMax(noGit+", and "+err.Error(), 2*maxText)}
}

// sshAnswer is what ssh said of one host, asked once.
type sshAnswer struct {
	once  sync.Once
	login *overssh.Login
	err   error
}

func (a *asker) sshLogin(ctx context.Context, host string) (*overssh.Login, error) {
	a.mu.Lock()
	answer := a.ssh[host]
	if answer == nil {
		answer = &sshAnswer{}
		a.ssh[host] = answer
	}
	a.mu.Unlock()
	answer.once.Do(func() { answer.login, answer.err = a.askSSH(ctx, host) })
	return answer.login, answer.err
}

// program finds git or ssh.
func program(path, name string) (string, error) {
	if path != "" {
		return path, nil
	}
	path, err := proc.Look(name)
	if err != nil {
		return "", errors.New(name + " is not installed on the host")
	}
	return path, nil
}
