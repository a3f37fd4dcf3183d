package config

import (
	"fmt"
	"slices"
	"strings"

	"aibox/internal/hosts"

	yaml "go.yaml.in/yaml/v4"
)

const gitExample = "write - remote: github.com/me/app, and below it fetch: true or push: [main]"

func (d *decoder) readGit(n *yaml.Node) {
	lines := map[string]int{}
	for _, item := range d.list(n, "git", gitExample, maxGit) {
		if item.Kind != yaml.MappingNode {
			d.fail(item, gitExample, "an item of git must be a mapping with the key remote, not %s", describe(item))
			continue
		}
		before := len(d.mistakes)
		r := d.readRemote(item)
		switch {
		case len(d.mistakes) > before:
			continue
		case r.Remote == "":
			d.fail(item, gitExample, "git: the key remote is missing")
			continue
		case lines[strings.ToLower(r.Remote)] != 0:
			d.fail(item, "join the two", "git: %s is listed twice, first on line %d", quote(r.Remote), lines[strings.ToLower(r.Remote)])
			continue
		case !r.Fetch && len(r.Push) == 0:
			d.fail(item, "add fetch: true or push: [main]", "git: %s allows nothing", quote(r.Remote))
			continue
		}
		lines[strings.ToLower(r.Remote)] = item.Line
		d.settings.Git = append(d.settings.Git, r)
	}
}

func (d *decoder) readRemote(item *yaml.Node) (r Remote) {
	d.mapping(item, []key{
		{"remote", "", func(d *decoder, n *yaml.Node) {
			if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
				d.fail(n, "write remote: github.com/me/app", "git: remote must be a text, not %s", describe(n))
				return
			}
			if text, hint := remoteMistake(n.Value); text != "" {
				d.fail(n, hint, "git: %s", text)
			}
			r.Remote = n.Value
		}},
		{"fetch", "", func(d *decoder, n *yaml.Node) { d.boolean(n, "fetch", &r.Fetch) }},
		{"push", "", func(d *decoder, n *yaml.Node) { r.Push = d.readPush(n) }},
	})
	return r
}

func (d *decoder) readPush(n *yaml.Node) []string {
	var found []string
	for _, p := range d.list(n, "push", "write push: [main]", maxGit) {
		if p.Kind != yaml.ScalarNode || p.ShortTag() != "!!str" {
			d.fail(p, "write push: [main]", "git: a push pattern must be a text, not %s", describe(p))
			continue
		}
		if text, hint := patternMistake(p.Value); text != "" {
			d.fail(p, hint, "git: the push pattern %s %s", quote(p.Value), text)
			continue
		}
		if slices.Contains(found, p.Value) {
			d.fail(p, "remove one of the two", "git: the push pattern %s is listed twice", quote(p.Value))
			continue
		}
		found = append(found, p.Value)
	}
	return found
}

// remoteMistake checks "host/path". What the path may hold is kept narrow,
// since the broker makes a URL of it.
func remoteMistake(s string) (text, hint string) {
	const example = "write host and path, such as github.com/me/app"
	if _, rest, ok := strings.Cut(s, "://"); ok {
		return quote(s) + " is a URL", "write " + quote(strings.TrimSuffix(rest, ".git"))
	}
	if strings.HasSuffix(s, ".git") {
		return quote(s) + " ends in .git", "write " + quote(strings.TrimSuffix(s, ".git"))
	}
	host, path, ok := strings.Cut(s, "/")
	if !ok || path == "" {
		return quote(s) + " has no path", example
	}
	if e, err := hosts.Parse(host); err != nil || e.Kind != hosts.Name || e.String() != host {
		return fmt.Sprintf("%s does not begin with a host's name in lower case and without a port", quote(s)), example
	}
	if strings.HasPrefix(path, "~") {
		return quote(s) + " names a user's home, which servers read in different ways", example
	}
	if len(path) > 400 {
		return quote(s) + " has a path of more than 400 bytes", example
	}
	for _, part := range strings.Split(path, "/") {
		if strings.Trim(part, ".") == "" || strings.HasPrefix(part, "-") || strings.Trim(part, pathLetters) != "" {
			return quote(s) + " has a path of other than letters, digits and . _ - + ~", example
		}
	}
	return "", ""
}

const (
	letters     = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	pathLetters = letters + "._-+~"
)

// patternMistake applies git's rules for branch names to a pattern, so that a
// pattern that can match nothing is told.
func patternMistake(p string) (text, hint string) {
	const example = `write a branch's name, or a pattern such as "claude/*"`
	switch {
	case strings.HasPrefix(p, "refs/"):
		return "is a full reference", "write " + quote(strings.TrimPrefix(p, "refs/heads/"))
	case p == "" || len(p) > 200:
		return "is empty or longer than 200 bytes", example
	case strings.ContainsAny(p, " ~^:?[\\") || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "holds what no branch's name can", example
	case strings.Contains(p, "..") || strings.Contains(p, "//") || strings.Contains(p, "@{") || strings.Contains(p, "/."),
		strings.HasPrefix(p, "/"), strings.HasPrefix(p, "-"), strings.HasPrefix(p, "."),
		strings.HasSuffix(p, "/"), strings.HasSuffix(p, "."), strings.HasSuffix(p, ".lock"), p == "@":
		return "can match no branch", example
	}
	return "", ""
}
