package gitlogin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aibox/internal/border/gitgate"
	"aibox/internal/jail"
	"aibox/test/output"

	"golang.org/x/crypto/ssh/agent"
)

const confinedRole = "GITLOGIN_TEST_CONFINED"

// confined is what the child is told.
type confined struct {
	Home, SSH, User string
	Env             []string
}

// TestMain lets the test binary play an aibox that is confined for good.
func TestMain(m *testing.M) {
	if text := os.Getenv(confinedRole); text != "" {
		if err := serveConfined(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveConfined asks for the login, confines itself, tells the gate's port, and
// serves until its standard input ends.
func serveConfined(text string) error {
	var c confined
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	logins, err := Ask(context.Background(), Host{Home: c.Home, Env: c.Env, SSH: c.SSH}, []Remote{{Remote: testHost + "/me/app", Fetch: true, Push: []string{"main"}}})
	if err != nil {
		return err
	}
	if missing := logins.Missing(); len(missing) > 0 {
		return fmt.Errorf("%s", missing)
	}
	logins.Repos[0].Login.SSH.User = c.User
	gate := gitgate.New(gitgate.Config{Repos: logins.Repos})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	policy := jail.Policy{ConnectTCP: logins.Ports(), Lax: true}.DNSFiles("/")
	if _, err := jail.Apply(policy); err != nil {
		return err
	}
	if _, err := os.ReadFile(filepath.Join(c.Home, "known_hosts")); err == nil {
		return fmt.Errorf("confined, and reads the user's files")
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go gate.Serve(conn)
		}
	}()
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return nil
}

// TestGitSSHConfined fetches and pushes by a gate that cannot read a file or
// start a program any more, with a key that only an agent has.
func TestGitSSHConfined(t *testing.T) {
	w := newWorld(t, "AcceptEnv GIT_PROTOCOL")
	keyring, socket := agent.NewKeyring(), filepath.Join(w.dir, "agent")
	private := newKey(t, filepath.Join(w.dir, "elsewhere"), "")
	if err := keyring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.dir, "authorized"), authorized(t, private.Public().(ed25519Public)))
	serveAgent(t, keyring, socket)
	program := configure(t, w.home, "Host "+testHost, "HostName 127.0.0.1", "Port "+w.sshd.Port, "IdentityFile none")
	text, err := json.Marshal(confined{Home: w.home, SSH: program, User: userName(t), Env: []string{"PATH=" + os.Getenv("PATH"), "SSH_AUTH_SOCK=" + socket}})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), confinedRole+"="+string(text))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr output.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	w.port = strings.TrimSpace(line)
	w.round()
}
