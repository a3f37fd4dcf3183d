package githost

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"aibox/test/output"
)

// SSHD is OpenSSH's server on loopback. It lets in the user who runs it, and
// whoever has the same uid.
type SSHD struct {
	Port string

	log    output.Buffer
	cancel context.CancelFunc
	cmd    *exec.Cmd
	copied chan struct{}
}

// Door is how an SSHD is set up.
type Door struct {
	Root       string // of the repositories: Root/me/app.git is git@HOST:me/app.git
	HostKey    string // file of the private key
	Authorized string // file of the public keys that may come in
	Config     string // file that the configuration is written to
	Lines      []string
}

// FindSSHD returns the program together with the environment that it needs: the
// one below the folder AIBOX_SSHD, the machine's, or the one that
// scripts/setup.sh unpacked.
func FindSSHD() (program string, env []string, err error) {
	const system = "/usr/sbin/sshd"
	roots := []string{os.Getenv("AIBOX_SSHD"), "/"}
	if cache, err := os.UserCacheDir(); err == nil {
		roots = append(roots, filepath.Join(cache, "aibox", "sshd"))
	}
	for _, root := range roots {
		program, err := exec.LookPath(filepath.Join(root, system))
		switch {
		case root == "" || err != nil:
		case program == system:
			return program, nil, nil
		default:
			return program, []string{"LD_LIBRARY_PATH=" + libraries(root)}, nil
		}
	}
	return "", nil, errors.New("found no " + system + ", wanted OpenSSH's server; run: make test-setup")
}

// libraries are the folders that came with an unpacked program.
func libraries(root string) string {
	var dirs []string
	for _, pattern := range []string{"lib/*-linux-gnu", "usr/lib/*-linux-gnu"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		dirs = append(dirs, found...)
	}
	return strings.Join(dirs, ":")
}

// StartSSHD returns once the server listens, on a free port.
func StartSSHD(d Door) (*SSHD, error) {
	program, env, err := FindSSHD()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &SSHD{copied: make(chan struct{})}
	_, s.Port, _ = net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	lines := append([]string{
		"ListenAddress 127.0.0.1:" + s.Port, "HostKey " + d.HostKey, "AuthorizedKeysFile " + d.Authorized,
		"PidFile none", "UsePAM no", "StrictModes no", "PermitRootLogin yes", "PasswordAuthentication no", "LogLevel VERBOSE",
		"ForceCommand cd '" + d.Root + "' && eval \"$SSH_ORIGINAL_COMMAND\"",
	}, d.Lines...)
	lines = append(lines, companions(program)...)
	if err := os.WriteFile(d.Config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	if os.Getuid() == 0 { // root's sshd separates its privileges there
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return nil, err
		}
	}
	return s, s.start(program, env, d.Config)
}

// companions names the programs that newer servers consist of where they are
// not in their usual place.
func companions(program string) (lines []string) {
	dir := filepath.Join(filepath.Dir(filepath.Dir(program)), "lib", "openssh")
	for setting, name := range map[string]string{"SshdSessionPath": "sshd-session", "SshdAuthPath": "sshd-auth"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && program != "/usr/sbin/sshd" {
			lines = append(lines, setting+" "+path)
		}
	}
	return lines
}

func (s *SSHD) start(program string, env []string, config string) error {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.cmd = exec.CommandContext(ctx, program, "-D", "-e", "-f", config)
	s.cmd.Env = append(os.Environ(), env...)
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.cmd.Stderr = w
	err = s.cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		return err
	}
	ready := make(chan bool, 1)
	go func() {
		defer close(s.copied)
		s.copyLog(r, ready)
		_ = r.Close()
	}()
	if !<-ready {
		s.Close()
		return errors.New("sshd did not start: " + s.Log())
	}
	return nil
}

// copyLog reads the server's log, and says once that it listens or has ended.
func (s *SSHD) copyLog(r *os.File, ready chan bool) {
	buf := make([]byte, 4096)
	for told := false; ; {
		n, err := r.Read(buf)
		_, _ = s.log.Write(buf[:n])
		if !told && (err != nil || strings.Contains(s.Log(), "Server listening")) {
			told = true
			ready <- err == nil
		}
		if err != nil {
			return
		}
	}
}

// Log is what the server has written so far.
func (s *SSHD) Log() string { return s.log.String() }

// Close ends the server. Sessions end with their clients.
func (s *SSHD) Close() {
	s.cancel()
	_ = s.cmd.Wait()
	<-s.copied
}
