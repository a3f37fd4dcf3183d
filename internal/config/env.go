package config

import (
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// Names of variables that have a meaning to aibox.
const (
	// APIKeyName is the variable that stays on the host.
	APIKeyName = "ANTHROPIC_API_KEY"

	baseURLName = "ANTHROPIC_BASE_URL"
)

// ownNames are the variables that aibox sets in the VM itself.
func ownNames() []string {
	return []string{"AIBOX", "HOME", "USER", "LOGNAME", "SHELL", "PATH", "TERM", "LANG",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "FTP_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "all_proxy", "ftp_proxy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "GOMODCACHE"}
}

func (d *decoder) readEnv(n *yaml.Node) {
	for _, item := range d.items(n, "env", maxEnv) {
		name, value, written := strings.Cut(item.Value, "=")
		e := EnvVar{Name: name, Value: value, FromHost: !written}
		if text, hint := e.mistake(); text != "" {
			d.fail(item, hint, "env: %s", text)
			continue
		}
		d.env = append(d.env, at[EnvVar]{item, e})
		d.settings.Env = append(d.settings.Env, e)
	}
}

func (e EnvVar) mistake() (text, hint string) {
	switch {
	case !isVariable(e.Name):
		return quote(e.Name) + " is no name of a variable", "write NAME=value, or NAME to pass this machine's value"
	case e.Name == "PATH":
		return "PATH is set by aibox", `list folders under "path" instead`
	case strings.HasSuffix(strings.ToLower(e.Name), "_proxy") && slices.Contains(ownNames(), e.Name):
		return e.Name + " is set by aibox to its own proxy", `list the hosts under "allow" instead`
	case slices.Contains(ownNames(), e.Name):
		return e.Name + " is set by aibox", "remove this item"
	case strings.ContainsRune(e.Value, 0):
		return "the value of " + clip(e.Name) + " holds a zero byte", "remove it"
	case len(e.Value) > maxValue:
		return "the value of " + clip(e.Name) + " is too long", "put it into a file of the project"
	}
	return "", ""
}

// isVariable is the shell's rule for names. Others cannot be used by most programs.
func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// acrossEnv compares the variables with one another and with other keys.
func (d *decoder) acrossEnv() {
	lines := map[string]int{}
	for _, e := range d.env {
		name := e.value.Name
		switch {
		case lines[name] != 0:
			d.fail(e.node, "keep one of the two", "env: %s is listed twice, first on line %d", clip(name), lines[name])
		case name == baseURLName && d.settings.NeedsAPIKey():
			d.fail(e.node, "remove one of the two", "env: %s is set by aibox when %s is listed", name, APIKeyName)
		case strings.HasPrefix(name, "GIT_CONFIG_") && len(d.settings.Git) > 0:
			d.fail(e.node, "remove this item", `env: %s is set by aibox when "git" is set`, clip(name))
		}
		if lines[name] == 0 {
			lines[name] = e.node.Line
		}
	}
}

func (d *decoder) across() {
	d.acrossAllow()
	d.acrossMounts()
	d.acrossEnv()
}

func (d *decoder) readPath(n *yaml.Node) {
	seen := map[string]int{}
	for _, item := range d.items(n, "path", maxPath) {
		p := item.Value
		switch {
		case seen[p] != 0:
			d.fail(item, "remove one of the two", "path: %s is listed twice, first on line %d", quote(p), seen[p])
			continue
		case isVariable(p):
		case p == "~" || strings.HasPrefix(p, "~/"):
			d.fail(item, "write "+quote(guestHome+p[1:])+" for the VM's home", "path: %s could be this machine's home or the VM's", quote(p))
			continue
		case !isFolder(p):
			d.fail(item, "write a folder of the VM such as /opt/tools/bin, or a variable's name such as DIRENV_PATH",
				"path: %s is neither an absolute folder nor the name of a variable", quote(p))
			continue
		}
		seen[p] = item.Line
		d.settings.Path = append(d.settings.Path, p)
	}
}

// isFolder tells whether p can stand in a PATH of the VM.
func isFolder(p string) bool {
	return strings.HasPrefix(p, "/") && !strings.ContainsAny(p, ":\x00\n") && len(p) <= maxGuestPath
}
