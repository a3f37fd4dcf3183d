package gitlogin

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const canary = "canary-5c1d"

// askGit asks git with a configuration of the user's.
func askGit(t *testing.T, home, config string, env ...string) (user, password string, err error) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, wanted to run the real one")
	}
	write(t, filepath.Join(home, ".gitconfig"), config)
	h := Host{Home: home, Env: append([]string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}, env...)}
	a := &asker{host: h, env: environment(h), time: 2 * time.Second}
	return a.credential(t.Context(), testHost, "me/app")
}

func TestGitCredential(t *testing.T) {
	home := t.TempDir()
	helper := func(body string) string {
		return "[credential]\n\thelper = \"!f() { test \\\"$1\\\" = get || exit 0; " + body + "; }; f\"\n"
	}
	login := "echo username=alice; echo password=" + canary
	for _, c := range []struct{ name, config, user, password, err string }{
		{"a helper", helper(login), "alice", canary, ""},
		{"the second helper", helper(":") + helper(login), "alice", canary, ""},
		{"for this host", strings.Replace(helper(login), "[credential]", `[credential "https://`+testHost+`"]`, 1), "alice", canary, ""},
		{"for another host", strings.Replace(helper(login), "[credential]", `[credential "https://other.test"]`, 1), "", "", "git has no login"},
		{"for this path", "[credential]\nuseHttpPath = true\n" + helper("grep -q path=me/app.git && "+login), "alice", canary, ""},
		{"none", "", "", "", "git has no login for https://" + testHost},
		{"a name alone", helper("echo username=alice"), "", "", "git has no login"},
		{"a helper that gives up", helper("echo quit=1"), "", "", "git has no login"},
		{"a helper that waits", helper("exec sleep 3600"), "", "", "within 2s"},
		{"a helper that fails", helper("echo " + canary + " >&2; exit 1"), "", "", "git has no login"},
	} {
		user, password, err := askGit(t, home, c.config)
		if user != c.user || password != c.password || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q %q %v, want %q %q %q", c.name, user, password, err, c.user, c.password, c.err)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestGitCredentialOutsideRepositories has a helper in a repository's own
// configuration, which the VM may write, and prompts that must not come.
func TestGitCredentialOutsideRepositories(t *testing.T) {
	home, repo := t.TempDir(), t.TempDir()
	mark := filepath.Join(home, "ran")
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	evil := "[credential]\n\thelper = \"!touch " + mark + "; echo username=x; echo password=y\"\n"
	write(t, filepath.Join(repo, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n"+evil)
	prompt := filepath.Join(home, "prompt")
	write(t, prompt, "#!/bin/sh\ntouch "+mark+"\necho y\n")
	if err := os.Chmod(prompt, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	t.Setenv("TMPDIR", repo) // as direnv may set it
	user, password, err := askGit(t, home, "[core]\n\taskPass = "+prompt+"\n",
		"GIT_DIR="+filepath.Join(repo, ".git"), "GIT_WORK_TREE="+repo, "GIT_ASKPASS="+prompt, "SSH_ASKPASS="+prompt, "DISPLAY=:0",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0="+filepath.Join(repo, ".git", "config"))
	if err == nil {
		t.Errorf("%q %q", user, password)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository or a prompt ran")
	}
}

// A development shell leads the loader and interpreters into the project.
func TestEnvironmentLoadsNoCode(t *testing.T) {
	keep := []string{"PATH=/usr/bin", "SSH_AUTH_SOCK=/run/agent", "XDG_CONFIG_HOME=/home/me/.config", "CLOUDSDK_PYTHON=/usr/bin/python3"}
	drop := []string{"LD_LIBRARY_PATH=/p/lib", "LD_PRELOAD=/p/a.so", "DYLD_INSERT_LIBRARIES=/p/a", "PYTHONPATH=/p", "PERL5OPT=-M/p/x", "NODE_OPTIONS=--require /p/x",
		"RUBYOPT=-r/p/x", "BASH_ENV=/p/x", "ENV=/p/x", "GCONV_PATH=/p", "OPENSSL_CONF=/p/x", "GIT_SSH_COMMAND=/p/x"}
	got := environment(Host{Home: "/home/me", Env: slices.Concat(drop, keep)})
	for _, v := range keep {
		if !slices.Contains(got, v) {
			t.Errorf("%s is gone", v)
		}
	}
	for _, v := range drop {
		if slices.Contains(got, v) {
			t.Errorf("%s is passed on", v)
		}
	}
}

func TestParseCredential(t *testing.T) {
	for in, want := range map[string][2]string{
		"protocol=https\nhost=h\nusername=u\npassword=a=b c\n": {"u", "a=b c"},
		"username=u\n":                   {"u", ""},
		"password=x\n":                   {"", "x"},
		"username=a:b\npassword=x\n":     {"", ""},
		"username=u\npassword=x\r\n":     {"", ""},
		"username=u\npassword=x\nquit=1": {"", ""},
		"":                               {"", ""},
	} {
		user, password := parseCredential(in)
		if got := [2]string{user, password}; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestParseSSHConfig(t *testing.T) {
	out := "user git\nhostname 10.0.0.1\nport 2222\nhostkeyalias al\nidentitiesonly yes\nidentityfile ~/.ssh/a\nidentityfile /k/%h_%p_%%\n" +
		"identityfile /k/%C\nidentityfile none\nidentityagent ~/agent\nuserknownhostsfile /h/known hosts /h/k2\nglobalknownhostsfile /etc/%k\nproxyjump none\n"
	got, err := parseSSHConfig(out, "h.test", "/home/u")
	want := sshConfig{
		host: "h.test", hostName: "10.0.0.1", port: "2222", user: "git", alias: "al", identitiesOnly: true, agent: "/home/u/agent",
		identities: []string{"/home/u/.ssh/a", "/k/10.0.0.1_2222_%"},
		knownHosts: []string{"/h/known hosts /h/k2", "/h/known", "/h/k2", "/etc/al"},
	}
	if err != nil || !cmp.Equal(got, want, cmp.AllowUnexported(sshConfig{})) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got, cmp.AllowUnexported(sshConfig{})))
	}
	for in, text := range map[string]string{
		"proxyjump a,b": "(ProxyJump)", "proxycommand nc": "(ProxyCommand)", "port x": "no host and port", "hostname a/b": "no host and port",
	} {
		if _, err := parseSSHConfig(in+"\n", "h.test", "/home/u"); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for in, agent := range map[string]string{"": "SSH_AUTH_SOCK", "identityagent none": "", "identityagent $MINE": "$MINE"} {
		if c, _ := parseSSHConfig(in, "h.test", "/home/u"); c.agent != agent {
			t.Errorf("%s: %q", in, c.agent)
		}
	}
}
