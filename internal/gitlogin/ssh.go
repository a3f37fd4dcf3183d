package gitlogin

import (
	"context"
	"errors"
	"fmt"
	"net"

	"aibox/internal/border/gitgate/overssh"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// askSSH returns the login of one server, or why there is none.
func (a *asker) askSSH(ctx context.Context, host string) (*overssh.Login, error) {
	c, err := a.sshConfig(ctx, host)
	if err != nil {
		return nil, err
	}
	login := &overssh.Login{User: c.user, Address: net.JoinHostPort(c.hostName, c.port)}
	// An alias stands for the host whatever its port is.
	login.Name = login.Address
	if c.alias != "" {
		login.Name = net.JoinHostPort(c.alias, "22")
	}
	if err := trust(login, c); err != nil {
		return nil, err
	}
	keys, problem := c.readKeys()
	agent, err := a.agent(c.agent)
	if err != nil {
		problem = err.Error()
	}
	login.Signers = func() ([]ssh.Signer, error) { return order(keys, agent, c.identitiesOnly) }
	if _, err := login.Signers(); err != nil {
		text := "ssh has no key for " + host
		if problem != "" {
			text += " (" + problem + ")"
		}
		return nil, errors.New(text)
	}
	return login, nil
}

// trust reads the known host keys of a server. A host without one is refused:
// nobody is there to compare a fingerprint.
func trust(login *overssh.Login, c sshConfig) error {
	db := readKnownHosts(c.knownHosts)
	if db == nil || len(db.HostKeyAlgorithms(login.Name)) == 0 {
		return fmt.Errorf("ssh does not know the host key of %s; to check and accept it run on the host: ssh -T git@%s", c.host, c.host)
	}
	login.HostKey, login.Algorithms = db.HostKeyCallback(), db.HostKeyAlgorithms(login.Name)
	return nil
}

// readKnownHosts reads those files that are there and can be read, nil if none.
func readKnownHosts(files []string) *knownhosts.HostKeyDB {
	var good []string
	for _, f := range files {
		if _, err := knownhosts.NewDB(f); err == nil {
			good = append(good, f)
		}
	}
	if len(good) == 0 {
		return nil
	}
	db, err := knownhosts.NewDB(good...)
	if err != nil {
		return nil
	}
	return db
}
