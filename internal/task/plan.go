package task

import (
	"fmt"
	"strings"

	"aibox/internal/config"
)

// Plan says, line by line, what the config lets a task's VM reach.
func Plan(s config.Settings, r config.Resolved) []string {
	lines := []string{"this task may reach:"}
	add := func(what string, list []string) {
		if len(list) == 0 {
			list = []string{"none"}
		}
		lines = append(lines, fmt.Sprintf("  %s: %s", what, strings.Join(list, ", ")))
	}
	var hosts, ports []string
	for _, e := range s.Allow {
		hosts = append(hosts, e.String())
	}
	for _, e := range s.Allow.LoopbackPorts() {
		ports = append(ports, e.String())
	}
	hosts = without(hosts, ports)
	if r.APIKey != "" {
		hosts = append(hosts, "the Claude API")
	}
	add("hosts", hosts)
	add("ports of this machine", ports)
	add("variables", variables(r))
	add("git repositories", remotes(s.Git))
	var mounts []string
	for _, m := range r.Mounts {
		mounts = append(mounts, m.String()+" (read-only)")
	}
	add("folders", mounts)
	return append(lines, "  and the start commit with all of its history")
}

func without(list, drop []string) (kept []string) {
	gone := map[string]bool{}
	for _, s := range drop {
		gone[s] = true
	}
	for _, s := range list {
		if !gone[s] {
			kept = append(kept, s)
		}
	}
	return kept
}

// variables names what the VM gets, never a value.
func variables(r config.Resolved) (list []string) {
	if r.APIKey != "" {
		list = append(list, config.APIKeyName+" (its value stays on this machine)")
	}
	for _, e := range r.Env {
		list = append(list, e.Name)
	}
	return list
}

func remotes(git []config.Remote) (list []string) {
	for _, g := range git {
		var rights []string
		if g.Fetch {
			rights = append(rights, "fetch")
		}
		if len(g.Push) > 0 {
			rights = append(rights, "push to "+strings.Join(g.Push, " "))
		}
		list = append(list, g.Remote+" ("+strings.Join(rights, "; ")+")")
	}
	return list
}

// oauthName is the variable with a subscription's login, which the VM gets.
const oauthName = "CLAUDE_CODE_OAUTH_TOKEN"

// hasLogin tells whether Claude Code can log in by itself.
func hasLogin(r config.Resolved) bool {
	for _, e := range r.Env {
		if e.Name == oauthName && e.Value != "" {
			return true
		}
	}
	return r.APIKey != ""
}
