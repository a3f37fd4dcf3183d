//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aibox/internal/border/gitgate"
	"aibox/internal/border/gitgate/route"
	"aibox/internal/run"
	"aibox/internal/wire"
	"aibox/test/bench/report"
	"aibox/test/githost"
	"aibox/test/ownnet"
)

// The repository that is cloned, and how often.
const (
	cloneHost   = "git.example.test"
	cloneRemote = cloneHost + "/me/big"
	cloneSize   = 200 << 20
	cloneRounds = 5
	vmRounds    = 1 // under software emulation one takes a minute
	cloneLogin  = "bench-password"
)

// cloneArgument makes this program measure clones in a network of its own.
const cloneArgument = "--clone-inside"

// clones are what the measurement says: the host's git straight from the server
// and through the broker, and the VM's git.
type clones struct{ Direct, Broker, VM []time.Duration }

// clone measures in a network of its own, where a server may have port 443.
func (m machine) clone() ([]report.Row, error) {
	home, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit)
	defer cancel()
	cmd, err := ownnet.Command(ctx, ownnet.Place{Names: []string{cloneHost}, Home: home}, cloneArgument, home)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("measure clones: %w", err)
	}
	var c clones
	if err := json.Unmarshal(out, &c); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("clone of %d MB through the git broker, ", cloneSize>>20)
	direct := report.Peer{Name: "straight from the server, git on the host", Values: seconds(c.Direct), Goal: report.AtMost(1.3)}
	emulated := direct
	emulated.Rest = restClone
	return []report.Row{
		{Name: name + "git on the host", Unit: "s", Ours: seconds(c.Broker), Peers: []report.Peer{direct}},
		{Name: name + "git in the VM", Unit: "s", Ours: seconds(c.VM), Peers: []report.Peer{emulated}},
	}, nil
}

// cloneInside measures and writes clones as JSON.
func (m machine) cloneInside(home string, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:443")
	if err != nil {
		return err
	}
	root := filepath.Join(home, "srv")
	server, err := githost.ServeHTTPS(l, githost.Site{Root: root, Names: []string{cloneHost}, User: "alice", Password: cloneLogin})
	if err != nil {
		return err
	}
	defer server.Close()
	if err := makeBig(home, filepath.Join(root, "me", "big.git")); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"ca.pem": string(server.CA), ".git-credentials": "https://alice:" + cloneLogin + "@" + cloneHost + "\n",
		".gitconfig": "[credential]\n\thelper = store\n[http]\n\tsslCAInfo = " + filepath.Join(home, "ca.pem") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	stop, err := serveBroker(server.CA)
	if err != nil {
		return err
	}
	defer stop()
	var c clones
	for range cloneRounds {
		direct, err := hostClone(home, nil)
		if err != nil {
			return err
		}
		broker, err := hostClone(home, route.Settings([]string{cloneRemote}))
		if err != nil {
			return err
		}
		c.Direct, c.Broker = append(c.Direct, direct), append(c.Broker, broker)
	}
	if c.VM, err = m.vmClones(home); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(c)
}

// makeBig makes a repository whose files do not compress.
func makeBig(home, bare string) error {
	seed := filepath.Join(home, "seed")
	if err := os.MkdirAll(seed, 0o755); err != nil {
		return err
	}
	for i := range 4 {
		f, err := os.Create(filepath.Join(seed, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		_, err = io.CopyN(f, rand.NewChaCha8([32]byte{byte(i)}), cloneSize/4)
		if err := f.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"-c", "core.compression=0", "add", "."},
		{"-c", "core.compression=0", "-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "--message=big"},
		{"-c", "core.compression=0", "clone", "--quiet", "--bare", "--no-local", seed, bare},
	} {
		if err := gitIn(home, seed, nil, args...); err != nil {
			return err
		}
	}
	return os.RemoveAll(seed)
}

// serveBroker listens where git finds the broker in a VM.
func serveBroker(ca []byte) (stop func(), err error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	gate := gitgate.New(gitgate.Config{
		Repos: []gitgate.Repo{{Remote: cloneRemote, Fetch: true, Login: gitgate.Login{User: "alice", Password: cloneLogin}}}, RootCAs: roots,
	})
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", wire.GitPort))
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go gate.Serve(c)
		}
	}()
	return func() {
		_ = l.Close()
		gate.Close()
	}, nil
}

// hostClone clones with git on the host.
func hostClone(home string, settings []wire.Setting) (time.Duration, error) {
	dir := filepath.Join(home, "clone.git")
	defer os.RemoveAll(dir)
	var args []string
	for _, s := range settings {
		args = append(args, "-c", s.Name+"="+s.Value)
	}
	start := time.Now()
	err := gitIn(home, home, nil, append(args, "clone", "--quiet", "--bare", "https://"+cloneRemote, dir)...)
	return time.Since(start), err
}

// vmClones clones with git in one VM and returns what the VM's clock says.
func (m machine) vmClones(home string) ([]time.Duration, error) {
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		return nil, err
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "AIBOX_VIRTIOFSD=" + m.VirtiofsdDir, "SSL_CERT_FILE=" + filepath.Join(home, "ca.pem")}
	if err := m.configure(env, project, "git: [{remote: "+cloneRemote+", fetch: true}]\n"); err != nil {
		return nil, err
	}
	request, err := json.Marshal(run.Request{Dir: project, Home: home, Image: m.Image, Command: fmt.Sprintf(
		`for i in $(seq %d); do s=$(date +%%s%%N); git clone -q --bare https://%s ~/.cache/big.git || exit 1; echo $(($(date +%%s%%N) - s)); rm -rf ~/.cache/big.git; done`,
		vmRounds, cloneRemote)})
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	defer w.Close() // its end would end the run
	if _, err := w.Write(request); err != nil {
		return nil, err
	}
	cmd := exec.Command(m.aibox, run.SessionCommand)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = project, env, []*os.File{r}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("clone in a VM: %w: %s", err, said.String())
	}
	var took []time.Duration
	for _, line := range strings.Fields(string(out)) {
		n, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Duration(n))
	}
	return took, nil
}
