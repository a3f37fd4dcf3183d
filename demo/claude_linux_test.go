package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aibox/internal/border/egress"
	"aibox/internal/border/egress/record"
	"aibox/internal/fault"
	"aibox/test/allow"
)

// nobody is the ordinary user that root's tests run Claude Code as.
const nobody = 65534

const placeholder = "placeholder-of-the-vm"

// claudePath returns the real Claude Code, or skips the test.
func claudePath(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("AIBOX_TEST_CLAUDE"); p != "" {
		return p
	}
	p, err := exec.LookPath("claude")
	if err != nil {
		t.Skip("the real Claude Code is not here: found no claude in PATH; set AIBOX_TEST_CLAUDE to its program")
	}
	return p
}

// host stands in for a VM: it runs the command on this machine, behind aibox's
// own proxy and a key forwarder that does in small what aibox's own does.
type host struct {
	t      *testing.T
	claude string
	noKey  bool // the forwarder forgets the key
	mangle func(dir string)
}

func (h *host) run(ctx context.Context, r RunRequest) (RunResult, error) {
	home := h.t.TempDir()
	if h.mangle != nil {
		h.mangle(r.Dir)
	}
	gate, err := serve(h.forwarder(r))
	if err != nil {
		return RunResult{}, err
	}
	defer gate.close()
	recorder := record.New(io.Discard, time.Now)
	proxy, closeProxy := h.proxy(r, recorder)
	defer closeProxy()
	cmd := exec.CommandContext(ctx, h.claude, r.Command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.Dir, r.Stdout, r.Stderr
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/bash", "TMPDIR=" + home,
		"ANTHROPIC_API_KEY=" + placeholder, "NO_PROXY=localhost",
		"ANTHROPIC_BASE_URL=http://localhost:" + strconv.Itoa(gate.addr.Port), "http_proxy=http://" + proxy, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		h.own(home, r.Dir)
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return RunResult{}, err
	}
	result := RunResult{Exit: cmd.ProcessState.ExitCode()}
	for _, r := range recorder.Reached() {
		result.Reached = append(result.Reached, r.Target)
	}
	refused, _ := recorder.Refused()
	for _, r := range refused {
		result.Refused = append(result.Refused, r.Target)
		result.Refusals = append(result.Refusals, r.Text)
	}
	return result, nil
}

// own gives folders to nobody, with the test's own folder above them opened.
func (h *host) own(dirs ...string) {
	for _, dir := range dirs {
		if parent := filepath.Dir(dir); parent != filepath.Clean(os.TempDir()) {
			if err := os.Chmod(parent, 0o755); err != nil {
				h.t.Error(err)
			}
		}
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, nobody, nobody))
		})
		if err != nil {
			h.t.Error(err)
		}
	}
}

func (h *host) forwarder(r RunRequest) http.Handler {
	upstream, err := url.Parse(r.Upstream)
	if err != nil {
		h.t.Fatal(err)
	}
	return &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
		if got := p.In.Header.Get("X-Api-Key"); got != placeholder && p.In.URL.Path != "/api/hello" {
			h.t.Errorf("%s: key %q, want the placeholder", p.In.URL.Path, got)
		}
		p.SetURL(upstream)
		if !h.noKey {
			p.Out.Header.Set("X-Api-Key", r.Key)
		}
	}}
}

// proxy serves aibox's proxy for one listed port of the loopback.
func (h *host) proxy(r RunRequest, recorder *record.Recorder) (addr string, stop func()) {
	p := egress.New(egress.Config{Allow: allow.List(h.t, fmt.Sprint("127.0.0.1:", r.AllowPort)), Recorder: recorder})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.Serve(conn) })
		}
	})
	return l.Addr().String(), func() { _ = l.Close(); serving.Wait() }
}

func TestRealClaudeCode(t *testing.T) {
	h := &host{t: t, claude: claudePath(t)}
	var out bytes.Buffer
	err := Run(t.Context(), Options{Run: h.run, Out: &out, Timeout: 2 * time.Minute, testOnlyHost: true})
	t.Logf("output:\n%s", out.String())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "\ndemo passed\n") {
		t.Error("the last line is not: demo passed")
	}
	for _, want := range []string{"scripted", "+" + fixedLine, "-" + brokenLine, "hosts refused: " + refusedHost + ":80\n  aibox: " + refusedHost + ":80 is not allowed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q", want)
		}
	}
}

// TestRealClaudeCodeFails breaks what the VM stands for, one piece at a time.
func TestRealClaudeCodeFails(t *testing.T) {
	claude := claudePath(t)
	for _, c := range []struct {
		name       string
		host       *host
		want, hint string
	}{
		{"no key", &host{noKey: true}, "without the key", "key forwarder"},
		{"no file", &host{mangle: func(dir string) { _ = os.Remove(filepath.Join(dir, mendedFile)) }}, failedLine, "runs no commands"},
		{"another file", &host{mangle: func(dir string) {
			_ = os.WriteFile(filepath.Join(dir, mendedFile), []byte("echo 1:5 #\n"), 0o600)
		}}, brokenLine[:5], "not visible"},
		{"read-only", &host{mangle: func(dir string) { _ = os.Chmod(filepath.Join(dir, mendedFile), 0o444); _ = os.Chmod(dir, 0o555) }},
			"the tool failed", "not writable"},
		{"no such program", &host{claude: "/nonexistent/claude"}, "no such file", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := c.host
			h.t = t
			if h.claude == "" {
				h.claude = claude
			}
			var out bytes.Buffer
			err := Run(t.Context(), Options{Run: h.run, Out: &out, Timeout: 2 * time.Minute, testOnlyHost: true})
			t.Logf("error: %v\nhint: %s\n%s", err, fault.HintOf(err), out.String())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(fault.HintOf(err), c.hint) {
				t.Errorf("error %v with hint %q, want %q with %q", err, fault.HintOf(err), c.want, c.hint)
			}
			if strings.Contains(out.String(), "demo passed") {
				t.Error("the demo claims to have passed")
			}
		})
	}
}
