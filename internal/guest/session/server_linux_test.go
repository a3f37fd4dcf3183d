package session

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"aibox/test/conns"
)

// local launches commands as the user that runs the test, without control groups.
type local struct {
	mu     sync.Mutex
	closed int
}

type localProcess struct {
	*exec.Cmd
	done  chan struct{}
	owner *local
	once  sync.Once
}

func (l *local) Launch(c Command) (Process, error) {
	if c.Line == "fail to start" {
		return nil, errors.New("no more processes")
	}
	cmd := exec.Command("/bin/sh", "-c", c.Line)
	if c.Line == "" {
		cmd = exec.Command("/bin/sh")
	}
	cmd.Env = c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdio[0], c.Stdio[1], c.Stdio[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: c.Terminal}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &localProcess{Cmd: cmd, done: make(chan struct{}), owner: l}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *localProcess) Done() <-chan struct{} { return p.done }

func (p *localProcess) Exit() (int, string) {
	status := p.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 0, signalName(int(status.Signal()))
	}
	return status.ExitStatus(), ""
}

func (p *localProcess) Signal(name string) {
	_ = syscall.Kill(-p.Process.Pid, syscall.Signal(signals()[name]))
}

func (p *localProcess) Close() {
	p.once.Do(func() {
		_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
		p.owner.mu.Lock()
		p.owner.closed++
		p.owner.mu.Unlock()
	})
}

func (l *local) closedCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func newKey(t *testing.T) (string, ssh.Signer) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), signer
}

// start serves one connection and returns what a client needs for it.
func start(t *testing.T, l *local) (net.Conn, *ssh.ClientConfig) {
	t.Helper()
	s, conn, config := startClosed(t)
	s.Open(l)
	return conn, config
}

// startClosed is start with a server that is not open yet.
func startClosed(t *testing.T) (*Server, net.Conn, *ssh.ClientConfig) {
	t.Helper()
	hostPEM, host := newKey(t)
	_, client := newKey(t)
	s, err := New(Options{
		HostKey:   hostPEM,
		ClientKey: string(ssh.MarshalAuthorizedKey(client.PublicKey())),
		Environment: func(client []string) []string {
			return append([]string{"PATH=/usr/bin:/bin", "FROM=init"}, client...)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := conns.Unix(t) // buffered: in SSH both sides speak first
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(b)
	}()
	t.Cleanup(func() {
		a.Close()
		select {
		case <-served:
		case <-time.After(10 * time.Second):
			t.Error("Serve did not return")
		}
	})
	return s, a, &ssh.ClientConfig{
		User:            "user",
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(client)},
		HostKeyCallback: ssh.FixedHostKey(host.PublicKey()),
	}
}

func connect(t *testing.T, l *local) *ssh.Client {
	t.Helper()
	conn, config := start(t, l)
	c, channels, requests, err := ssh.NewClientConn(conn, "vm", config)
	if err != nil {
		t.Fatal(err)
	}
	return ssh.NewClient(c, channels, requests)
}

func session(t *testing.T, c *ssh.Client) *ssh.Session {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSessionsWaitForTheLauncher(t *testing.T) {
	s, conn, config := startClosed(t)
	c, channels, requests, err := ssh.NewClientConn(conn, "vm", config)
	if err != nil {
		t.Fatalf("log in before the server is open: %v", err)
	}
	go func() {
		// The answer shows that the server reads, and the channel's request comes first.
		_, _, _ = c.SendRequest("unknown", true, nil)
		s.Open(&local{})
	}()
	if err := session(t, ssh.NewClient(c, channels, requests)).Run("true"); err != nil {
		t.Error(err)
	}
}

func TestOnlyTheOneKeyLogsIn(t *testing.T) {
	for name, auth := range map[string]ssh.AuthMethod{
		"another key": func() ssh.AuthMethod { _, k := newKey(t); return ssh.PublicKeys(k) }(),
		"password":    ssh.Password("x"),
	} {
		t.Run(name, func(t *testing.T) {
			conn, config := start(t, &local{})
			config.Auth = []ssh.AuthMethod{auth}
			if _, _, _, err := ssh.NewClientConn(conn, "vm", config); err == nil {
				t.Error("logged in")
			}
		})
	}
}

func TestExecKeepsStreamsAndCodesApart(t *testing.T) {
	c := connect(t, &local{})
	for line, want := range map[string]struct {
		out, err string
		code     int
		signal   string
	}{
		"echo out; echo err >&2":   {out: "out\n", err: "err\n"},
		"exit 7":                   {code: 7},
		"kill -KILL $$":            {signal: "KILL"},
		"kill -SEGV $$":            {signal: "SEGV"},
		"cat; echo \"$FROM\"":      {out: "inputinit\n"},
		"test -t 0 || echo no tty": {out: "no tty\n"},
	} {
		s := session(t, c)
		var out, errs bytes.Buffer
		s.Stdin, s.Stdout, s.Stderr = strings.NewReader("input"), &out, &errs
		err := s.Run(line)
		var code int
		var signal string
		var exit *ssh.ExitError
		if errors.As(err, &exit) {
			code, signal = exit.ExitStatus(), exit.Signal()
		} else if err != nil && !errors.Is(err, io.EOF) { // input that nobody read any more
			t.Errorf("%s: %v", line, err)
		}
		if signal != "" {
			code = 0 // the client makes one up
		}
		if out.String() != want.out || errs.String() != want.err || code != want.code || signal != want.signal {
			t.Errorf("%s: %q, %q, %d, %q, want %+v", line, out.String(), errs.String(), code, signal, want)
		}
	}
}

func TestLargeOutputArrivesWhole(t *testing.T) {
	s := session(t, connect(t, &local{}))
	out, err := s.Output("head -c 5000000 /dev/zero")
	if len(out) != 5000000 || err != nil {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestTerminalAndResize(t *testing.T) {
	s := session(t, connect(t, &local{}))
	if err := s.RequestPty("xterm-256color", 24, 80, ssh.TerminalModes{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Setenv("LC_TEST", "x"); err != nil {
		t.Error("LC_TEST was refused")
	}
	if err := s.Setenv("LD_PRELOAD", "x"); err == nil {
		t.Error("LD_PRELOAD was accepted")
	}
	in, _ := s.StdinPipe()
	out, _ := s.StdoutPipe()
	if err := s.Start(`echo "$TERM $LC_TEST"; stty size; read go; stty size; exit 3`); err != nil {
		t.Fatal(err)
	}
	read := lines(out)
	if got := <-read + <-read; got != "xterm-256color x24 80" {
		t.Errorf("terminal says %q", got)
	}
	if err := s.WindowChange(50, 132); err != nil {
		t.Fatal(err)
	}
	// The answer to a request sent later shows that the size has arrived.
	_, _ = s.SendRequest("nothing", true, nil)
	_, _ = io.WriteString(in, "go\n")
	<-read // the echo
	if got := <-read; got != "50 132" {
		t.Errorf("after resize: %q", got)
	}
	var exit *ssh.ExitError
	if err := s.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 3 {
		t.Errorf("Wait = %v", err)
	}
}

// lines sends each line without its end, and then closes.
func lines(r io.Reader) <-chan string {
	out := make(chan string, 16)
	go func() {
		defer close(out)
		var line []byte
		b := make([]byte, 1)
		for {
			if _, err := r.Read(b); err != nil {
				return
			}
			if b[0] == '\n' {
				out <- strings.TrimRight(string(line), "\r")
				line = nil
				continue
			}
			line = append(line, b[0])
		}
	}()
	return out
}

func TestInterruptReachesTheProgram(t *testing.T) {
	s := session(t, connect(t, &local{}))
	if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	in, _ := s.StdinPipe()
	out, _ := s.StdoutPipe()
	if err := s.Start("trap 'exit 42' INT; echo ready; while :; do sleep 1; done"); err != nil {
		t.Fatal(err)
	}
	<-lines(out)
	_, _ = io.WriteString(in, "\x03")
	var exit *ssh.ExitError
	if err := s.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 42 {
		t.Errorf("Wait = %v, want exit status 42", err)
	}
}

func TestSignalRequest(t *testing.T) {
	s := session(t, connect(t, &local{}))
	out, _ := s.StdoutPipe()
	if err := s.Start("echo ready; exec sleep 60"); err != nil {
		t.Fatal(err)
	}
	<-lines(out)
	if err := s.Signal(ssh.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *ssh.ExitError
	if err := s.Wait(); !errors.As(err, &exit) || exit.Signal() != "TERM" {
		t.Errorf("Wait = %v", err)
	}
}

func TestShellAndFailedStart(t *testing.T) {
	c := connect(t, &local{})
	s := session(t, c)
	var out bytes.Buffer
	s.Stdin, s.Stdout = strings.NewReader("echo from $0\nexit 5\n"), &out
	if err := s.Shell(); err != nil {
		t.Fatal(err)
	}
	var exit *ssh.ExitError
	if err := s.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 5 || out.String() != "from /bin/sh\n" {
		t.Errorf("shell: %v, %q", err, out.String())
	}
	s = session(t, c)
	var errs bytes.Buffer
	s.Stderr = &errs
	if err := s.Run("fail to start"); !errors.As(err, &exit) || exit.ExitStatus() != 126 ||
		!strings.Contains(errs.String(), "no more processes") {
		t.Errorf("failed start: %v, %q", err, errs.String())
	}
}

func TestClientThatVanishesTakesItsProcessesAlong(t *testing.T) {
	l := &local{}
	conn, config := start(t, l)
	c, channels, requests, err := ssh.NewClientConn(conn, "vm", config)
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, ssh.NewClient(c, channels, requests))
	out, _ := s.StdoutPipe()
	// It ignores the hangup, so it has to be killed.
	if err := s.Start("trap '' HUP; echo $$; while :; do sleep 1; done"); err != nil {
		t.Fatal(err)
	}
	<-lines(out)
	conn.Close()
	deadline := time.After(10 * time.Second)
	for l.closedCount() == 0 {
		select {
		case <-deadline:
			t.Fatal("the process was left running")
		case <-time.Tick(5 * time.Millisecond):
		}
	}
}

func TestOtherChannelsAreRefused(t *testing.T) {
	c := connect(t, &local{})
	for _, kind := range []string{"direct-tcpip", "x11", "auth-agent@openssh.com"} {
		if _, _, err := c.OpenChannel(kind, nil); err == nil {
			t.Errorf("channel %s was accepted", kind)
		}
	}
	if _, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("remote forwarding was accepted")
	}
}

func TestChannelsAreBounded(t *testing.T) {
	c := connect(t, &local{})
	for range maxChannels {
		session(t, c)
	}
	if _, err := c.NewSession(); err == nil {
		t.Error("one session too many was accepted")
	}
}

func TestBadKeys(t *testing.T) {
	pem, signer := newKey(t)
	public := string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
	for _, o := range []Options{{HostKey: "", ClientKey: public}, {HostKey: pem, ClientKey: "x"}, {HostKey: public, ClientKey: pem}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(%.10q, %.10q) succeeded", o.HostKey, o.ClientKey)
		}
	}
	if _, err := os.Stat("/dev/ptmx"); err != nil {
		t.Errorf("no terminals here: %v", err)
	}
}
