//go:build hostile

package hostile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"aibox/internal/border/control"
	"aibox/internal/border/terminal"
	"aibox/internal/wire"
)

// lying is an SSH server in the VM: what it does beside the protocol.
type lying struct {
	raw     func(net.Conn) // instead of SSH
	banner  string
	hostKey bool // one of its own
	request func(*ssh.Request) bool
	session func(conn *ssh.ServerConn, ch ssh.Channel)
}

func (l lying) serve(conn net.Conn, keys *terminal.Keys) {
	defer conn.Close()
	if l.raw != nil {
		l.raw(conn)
		return
	}
	signer, err := ssh.ParsePrivateKey([]byte(keys.HostPEM))
	if l.hostKey {
		_, private, _ := ed25519.GenerateKey(rand.Reader)
		signer, err = ssh.NewSignerFromKey(private)
	}
	if err != nil {
		return
	}
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, nil },
		BannerCallback:    func(ssh.ConnMetadata) string { return l.banner },
	}
	config.AddHostKey(signer)
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		ch, in, err := c.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range in {
				ok := l.request == nil || l.request(r)
				_ = r.Reply(ok, nil)
				if ok && (r.Type == "exec" || r.Type == "shell") && l.session != nil {
					go l.session(server, ch)
				}
			}
		}()
	}
}

// outcome is how a session ended.
type outcome struct {
	code int
	err  error
}

func (o outcome) clean(t *testing.T) {
	t.Helper()
	if o.err == nil {
		return
	}
	clean(t, "the error", o.err.Error())
	if len(o.err.Error()) > 600 {
		t.Errorf("an error of %d bytes", len(o.err.Error()))
	}
}

// outcome runs a session with the server.
func (l lying) outcome(t *testing.T, out io.Writer) outcome {
	keys, err := terminal.NewKeys()
	if err != nil {
		return outcome{0, nil}
	}
	host, guest := sockets(t)
	go l.serve(guest, keys)
	code, err := terminal.Run(t.Context(), host, keys, terminal.Options{Command: "true", Stdout: out, Env: map[string]string{"TERM": "xterm"}})
	return outcome{code, err}
}

// run is outcome, whose error must be plain text.
func (l lying) run(t *testing.T, out io.Writer) (int, error) {
	t.Helper()
	o := l.outcome(t, out)
	o.clean(t)
	return o.code, o.err
}

func status(code uint32) []byte { return ssh.Marshal(struct{ Code uint32 }{code}) }

// ended ends a session well: the control of those that must not.
func ended(code uint32) func(*ssh.ServerConn, ssh.Channel) {
	return func(_ *ssh.ServerConn, ch ssh.Channel) {
		_, _ = io.WriteString(ch, "hello")
		_, _ = ch.SendRequest("exit-status", false, status(code))
		ch.Close()
	}
}

func TestSSHServers(t *testing.T) {
	const guard = "terminal: SSH"
	var out bytes.Buffer
	if code, err := (lying{session: ended(7)}).run(t, &out); code != 7 || err != nil || out.String() != "hello" {
		t.Fatalf("control: an honest server: %d, %v, %q", code, err, out.String())
	}
	servers := map[string]lying{
		"another host key": {hostKey: true, session: ended(0)},
		"never answers":    {raw: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		"a megabyte before its version": {raw: func(c net.Conn) {
			_, _ = c.Write(bytes.Repeat([]byte("noise\r\n"), 150<<10))
			_, _ = io.Copy(io.Discard, c)
		}},
		"an endless version": {raw: func(c net.Conn) {
			_, _ = c.Write(append([]byte("SSH-2.0-"), bytes.Repeat([]byte("x"), 10<<20)...))
			_, _ = io.Copy(io.Discard, c)
		}},
		"an old version with escape codes": {raw: func(c net.Conn) { _, _ = io.WriteString(c, "SSH-1.5-\x1b[2J\r\n"); _, _ = io.Copy(io.Discard, c) }},
		"noise for a key exchange": {raw: func(c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-x\r\n"+strings.Repeat("\xff", 100000))
			_, _ = io.Copy(io.Discard, c)
		}},
		"a packet of 2 GiB": {raw: func(c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-x\r\n\x7f\xff\xff\xff\x04")
			_, _ = io.Copy(io.Discard, c)
		}},
		"refuses the environment":              {request: func(r *ssh.Request) bool { return r.Type != "env" }, session: ended(0)},
		"refuses the command":                  {request: func(r *ssh.Request) bool { return r.Type != "exec" }},
		"closes the connection in the session": {session: func(c *ssh.ServerConn, _ ssh.Channel) { c.Close() }},
		"ends without an exit code":            {session: func(_ *ssh.ServerConn, ch ssh.Channel) { ch.Close() }},
		"1000 global requests": {session: func(c *ssh.ServerConn, _ ssh.Channel) {
			repeat(1000, func() error { _, _, err := c.SendRequest("tcpip-forward", true, []byte("\x1b[2J")); return err })
		}},
		"1000 requests on the channel": {session: func(_ *ssh.ServerConn, ch ssh.Channel) {
			repeat(1000, func() error { _, err := ch.SendRequest("x\x1b[2J", false, nil); return err })
		}},
		"opens channels to the user's agent": {session: func(c *ssh.ServerConn, _ ssh.Channel) {
			repeat(100, func() error { _, _, err := c.OpenChannel("auth-agent@openssh.com", nil); return open(err) })
		}},
		"opens channels to the user's display": {session: func(c *ssh.ServerConn, _ ssh.Channel) {
			repeat(100, func() error { _, _, err := c.OpenChannel("x11", nil); return open(err) })
		}},
		"opens channels to the user's network": {session: func(c *ssh.ServerConn, _ ssh.Channel) {
			repeat(100, func() error { _, _, err := c.OpenChannel("forwarded-tcpip", nil); return open(err) })
		}},
	}
	// At once, since some take all the time that they are given.
	results := map[string]chan outcome{}
	for name, l := range servers {
		result := make(chan outcome, 1)
		results[name] = result
		go func() { result <- l.outcome(t, io.Discard) }()
	}
	for name, result := range sorted(results) {
		attack(t, "SSH server: "+name, guard, true, func(t *testing.T) {
			o := <-result
			if o.err == nil {
				t.Errorf("the session ended well, with exit code %d", o.code)
			}
			o.clean(t)
			t.Log(o.err)
		})
	}
	attack(t, "SSH server: an exit code of 2^32-256, which a shell would see as 0", guard, true, func(t *testing.T) {
		if code, err := (lying{session: ended(1<<32 - 256)}).run(t, io.Discard); code != 255 || err != nil {
			t.Errorf("%d, %v", code, err)
		}
	})
	attack(t, "SSH server: another exit code after the first", guard, true, func(t *testing.T) {
		l := lying{session: func(c *ssh.ServerConn, ch ssh.Channel) {
			_, _ = ch.SendRequest("exit-status", false, status(3))
			ended(0)(c, ch)
		}}
		if code, err := l.run(t, io.Discard); code != 3 || err != nil {
			t.Errorf("%d, %v", code, err)
		}
	})
	attack(t, "SSH server: a banner of escape codes", guard, true, func(t *testing.T) {
		var out bytes.Buffer
		l := lying{banner: strings.Repeat("\x1b[2Jbanner", 1000), session: ended(0)}
		if _, err := l.run(t, &out); err != nil || out.String() != "hello" {
			t.Errorf("%v, printed %q", err, tail(out.String(), 200))
		}
	})
	attack(t, "SSH server: a gigabyte to a terminal that takes nothing", "terminal: one window", false, func(t *testing.T) {
		before := heap()
		slow := &stuck{began: make(chan struct{}), over: make(chan struct{})}
		l := lying{session: func(_ *ssh.ServerConn, ch ssh.Channel) {
			for b := bytes.Repeat([]byte("x"), 32<<10); ; {
				if _, err := ch.Write(b); err != nil {
					return
				}
			}
		}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = l.run(t, slow)
		}()
		<-slow.began
		time.Sleep(2 * time.Second) // the server sends as much as it can
		if grew := int64(heap()) - int64(before); grew > 64<<20 {
			t.Errorf("it took %d MiB", grew>>20)
		}
		close(slow.over)
		<-done
	})
}

// open is nil for a channel that was opened, which is the attack's success: it
// then goes on to the session's good end.
func open(err error) error {
	var refused *ssh.OpenChannelError
	if errors.As(err, &refused) {
		return nil // try again, until the client has had enough
	}
	return err
}

func repeat(n int, do func() error) {
	for range n {
		if do() != nil {
			return
		}
	}
}

// stuck is a terminal that takes nothing until it is over.
type stuck struct {
	began, over chan struct{}
	writes      int
}

func (s *stuck) Write([]byte) (int, error) {
	if s.writes++; s.writes == 1 {
		close(s.began)
	}
	<-s.over
	return 0, io.ErrClosedPipe
}

// TestControlMessages answers the boot message with what init would not.
func TestControlMessages(t *testing.T) {
	const ready = `{"ready":{"steps":[{"name":"mounts","micros":5}]}}`
	start := func(t *testing.T, answer string) (*control.Control, error) {
		t.Helper()
		host, guest := sockets(t)
		go func() {
			var m wire.ToGuest
			if wire.ReadMessage(guest, &m, wire.MaxToGuest) == nil {
				_, _ = io.WriteString(guest, answer)
			}
		}()
		c, err := control.Start(t.Context(), host, wire.Boot{})
		if err != nil {
			clean(t, "the error", err.Error())
		}
		return c, err
	}
	framed := func(s string) string {
		n := len(s)
		return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + s
	}
	for name, answer := range sorted(map[string]string{
		"a message of 4 GiB":                 "\xff\xff\xff\xff{}",
		"a message of a byte over the limit": "\x00\x01\x00\x01" + strings.Repeat(" ", 65537),
		"no JSON, with escape codes":         framed("\x1b[2J"),
		"deeply nested JSON":                 framed(`{"ready":` + strings.Repeat("[", 60000)),
		"ready and failed":                   framed(`{"ready":{},"failed":{"step":"a"}}`),
		"neither":                            framed(`{}`),
		"failed with escape codes":           framed(`{"failed":{"step":"\u001b[2Jstep","reason":"\u001b]0;owned\u0007\u202e"}}`),
	}) {
		attack(t, "control: "+name, "control: limits", true, func(t *testing.T) {
			if c, err := start(t, framed(ready)); err != nil || len(c.Steps()) != 1 {
				t.Fatalf("control: %v", err)
			}
			if _, err := start(t, answer); err == nil {
				t.Error("accepted")
			}
		})
	}
	attack(t, "control: 3000 steps with escape codes of a century each", "control: limits", true, func(t *testing.T) {
		c, err := start(t, framed(`{"ready":{"steps":[`+strings.Repeat(`{"name":"\u001b","micros":9},`, 2000)+`{"name":"x","micros":3155760000000000}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Steps() {
			clean(t, "a step", s.Name)
		}
		if len(c.Steps()) > control.MaxSteps {
			t.Errorf("%d steps", len(c.Steps()))
		}
	})
	attack(t, "control: a second message", "control: one answer", true, func(t *testing.T) {
		c, err := start(t, framed(ready)+framed(ready))
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.Done():
			if c.Err() == nil {
				t.Error("no error")
			}
		case <-time.After(5 * time.Second):
			t.Error("it is not noticed")
		}
	})
}
