package gitlogin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"aibox/internal/proc"
)

// sshConfig is what ssh would do for a host.
type sshConfig struct {
	host, hostName, port, user string

	alias          string // by which the host key is known, instead of the name
	identities     []string
	identitiesOnly bool
	agent          string // socket; empty for none
	knownHosts     []string
	via            string // the setting that goes through another host or program
}

func (a *asker) sshConfig(ctx context.Context, host string) (sshConfig, error) {
	ssh, err := program(a.host.SSH, "ssh")
	if err != nil {
		return sshConfig{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.time)
	defer cancel()
	out, err := proc.Output(ctx, proc.Cmd{
		Name: "ssh -G", Path: ssh, Args: []string{"-G", "-T", "-l", "git", "--", host}, Env: a.env,
	})
	if err != nil {
		return sshConfig{}, errors.New(said(err))
	}
	c, err := parseSSHConfig(string(out), host, a.host.Home)
	if err == nil && c.agent == agentByEnvironment {
		c.agent = a.lookup("SSH_AUTH_SOCK")
	}
	if name, ok := strings.CutPrefix(c.agent, "$"); ok {
		c.agent = a.lookup(name)
	}
	return c, err
}

func (a *asker) lookup(name string) string {
	for _, v := range a.host.Env {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}

// agentByEnvironment is ssh's own name for the agent of its environment.
const agentByEnvironment = "SSH_AUTH_SOCK"

// parseSSHConfig reads the output of ssh -G: a setting in lower case, a space
// and its value per line.
func parseSSHConfig(out, host, home string) (sshConfig, error) {
	c := sshConfig{host: host, hostName: host, port: "22", user: "git", agent: agentByEnvironment}
	var files []string
	for l := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch name {
		case "hostname":
			c.hostName = value
		case "port":
			c.port = value
		case "user":
			c.user = value
		case "hostkeyalias":
			c.alias = value
		case "identityfile":
			c.identities = append(c.identities, value)
		case "identitiesonly":
			c.identitiesOnly = value == "yes"
		case "identityagent":
			c.agent = value
		case "userknownhostsfile", "globalknownhostsfile":
			files = append(files, value) // which ssh prints without quotes
			if fields := strings.Fields(value); len(fields) > 1 {
				files = append(files, fields...)
			}
		case "proxyjump", "proxycommand":
			if value != "none" {
				c.via = map[string]string{"proxyjump": "ProxyJump", "proxycommand": "ProxyCommand"}[name]
			}
		}
	}
	if c.via != "" {
		return c, fmt.Errorf("ssh goes to %s through another host or program (%s), which aibox does not do", host, c.via)
	}
	if strings.ContainsAny(c.hostName, "/ @") || c.hostName == "" || strings.Trim(c.port, "0123456789") != "" {
		return c, fmt.Errorf("ssh names no host and port for %s", host)
	}
	c.identities, c.knownHosts = c.expandAll(c.identities, home), c.expandAll(files, home)
	if c.agent == "none" {
		c.agent = ""
	} else if !strings.HasPrefix(c.agent, "$") && c.agent != agentByEnvironment {
		c.agent, _ = c.expand(c.agent, home)
	}
	return c, nil
}

func (c sshConfig) expandAll(paths []string, home string) (list []string) {
	for _, p := range paths {
		if p, ok := c.expand(p, home); ok {
			list = append(list, p)
		}
	}
	return list
}

// expand replaces "~" and the tokens that ssh -G leaves in paths. A path with
// another token, or one that is not absolute then, is left out.
func (c sshConfig) expand(path, home string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(home, rest)
	}
	path = strings.NewReplacer("%%", "\x00", "%d", home, "%h", c.hostName, "%n", c.host, "%p", c.port, "%r", c.user, "%k", c.keyName()).Replace(path)
	if strings.Contains(path, "%") || !filepath.IsAbs(path) {
		return "", false
	}
	return strings.ReplaceAll(path, "\x00", "%"), true
}

// keyName is the name by which the host key is known.
func (c sshConfig) keyName() string {
	if c.alias != "" {
		return c.alias
	}
	return c.hostName
}
