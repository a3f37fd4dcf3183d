package gitlogin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"aibox/internal/plain"
	"aibox/internal/proc"
)

// credential asks git for the login of https://host/path, as git itself asks
// before it connects.
func (a *asker) credential(ctx context.Context, host, path string) (user, password string, err error) {
	git, err := program(a.host.Git, "git")
	if err != nil {
		return "", "", err
	}
	in, err := stdin("protocol=https\nhost=" + host + "\npath=" + path + ".git\n\n")
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	ctx, cancel := context.WithTimeout(ctx, a.time)
	defer cancel()
	// Git looks for a repository in its folder and all above: below a project, where
	// TMPDIR can lead too, it would run the credential helpers that an earlier VM wrote
	// into the configuration there. So it runs in the root folder, as all that proc starts.
	// Output's errors may quote a helper, and its output is never in them.
	out, err := proc.Output(ctx, proc.Cmd{
		Name: "git credential fill", Path: git, Args: []string{"-c", "core.askPass=", "credential", "fill"},
		Env: a.env, Stdin: in,
	})
	if ctx.Err() != nil {
		return "", "", fmt.Errorf("git has no login for https://%s within %s", host, a.time)
	}
	if err == nil {
		user, password = parseCredential(string(out))
	}
	if password == "" {
		return "", "", fmt.Errorf("git has no login for https://%s", host)
	}
	return user, password, nil
}

// parseCredential reads the lines of git's answer. A password that no header
// can hold is none.
func parseCredential(out string) (user, password string) {
	for l := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "=")
		switch name {
		case "username":
			user = value
		case "password":
			password = value
		case "quit":
			if value == "1" || value == "true" {
				return "", ""
			}
		}
	}
	if strings.ContainsAny(user, ":\x00\r") || strings.ContainsAny(password, "\x00\r") {
		return "", ""
	}
	return user, password
}

// stdin is a file that holds text, at most a pipe's buffer.
func stdin(text string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if len(text) > 4096 {
		r.Close()
		return nil, errors.New("question too long")
	}
	if _, err := w.WriteString(text); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// environment is what git, its helpers and ssh get of aibox's: all that helpers
// may need to find the user's stores, and nothing that leads git to a
// repository, any of them to a prompt, or to code of a project that an earlier VM
// could have written.
func environment(h Host) []string {
	var env []string
	for _, v := range h.Env {
		name, _, _ := strings.Cut(v, "=")
		drop := loadsCode(name) || strings.HasPrefix(name, "GIT_") || name == "SSH_ASKPASS" || name == "SSH_ASKPASS_REQUIRE" || name == "HOME" ||
			name == "DISPLAY" || name == "WAYLAND_DISPLAY" || name == "GPG_TTY" || strings.HasPrefix(name, "LC_") || name == "LANG"
		if !drop {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+h.Home, "LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "GIT_OPTIONAL_LOCKS=0")
}

// loadsCode tells whether a variable has the loader, a shell or an interpreter
// load code that the user did not name. Development shells point such variables
// into the project.
func loadsCode(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "GCONV_PATH", "OPENSSL_CONF", "OPENSSL_MODULES":
		return true
	}
	return slices.ContainsFunc([]string{"LD_", "DYLD_", "PYTHON", "PERL", "NODE_", "RUBY"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// said is the end of what a program wrote, for a reason.
func said(err error) string { return plain.LineMax(err.Error(), maxText) }
