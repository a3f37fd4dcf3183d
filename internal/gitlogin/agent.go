package gitlogin

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentConn is an open connection to an agent, or none.
type agentConn struct {
	once   sync.Once
	conn   net.Conn
	client agent.ExtendedAgent
	err    error
}

func (a *agentConn) signers() ([]ssh.Signer, error) {
	if a == nil || a.client == nil {
		return nil, nil
	}
	return a.client.Signers()
}

// agent connects to an agent once, however many servers use it.
func (a *asker) agent(socket string) (*agentConn, error) {
	if socket == "" {
		return nil, nil
	}
	a.mu.Lock()
	c := a.agents[socket]
	if c == nil {
		c = &agentConn{}
		a.agents[socket] = c
	}
	a.mu.Unlock()
	c.once.Do(func() { c.connect(socket) })
	return c, c.err
}

func (a *agentConn) connect(socket string) {
	conn, err := dialAgent(socket)
	if err != nil {
		a.err = fmt.Errorf("the agent cannot be reached: %s", said(err))
		return
	}
	// Later the agent may wait for its user; here it only has to count.
	_ = conn.SetDeadline(time.Now().Add(agentTime))
	client := agent.NewClient(conn)
	_, err = client.List()
	_ = conn.SetDeadline(time.Time{})
	if err != nil {
		_ = conn.Close()
		a.err = errors.New("the agent does not answer")
		return
	}
	a.conn, a.client = conn, client
}
