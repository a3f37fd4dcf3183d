package suggest

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aibox/internal/config/preset"
	"aibox/internal/hosts"
)

// maxUserFile bounds each of the user's own files that is read, in bytes.
const maxUserFile = 256 << 10

// User is what is asked of the user's own settings. The project's never count:
// they are what a VM may have written.
type User struct {
	Home   string
	Lookup func(string) (string, bool) // os.LookupEnv
}

// Entries returns what to allow for a preset: "preset:NAME", or the hosts of
// the registry with which the user's own tools are configured instead.
func (u User) Entries(name string) []string {
	var own []string
	p, _ := preset.Find(name)
	for _, text := range u.registries(name) {
		if e, ok := entryOf(text); ok && !covers(p, e) && !slices.Contains(own, e.String()) {
			own = append(own, e.String())
		}
	}
	if len(own) == 0 {
		return []string{"preset:" + name}
	}
	return own
}

// registries returns the URLs that the user configured for a preset's tool.
func (u User) registries(name string) []string {
	switch name {
	case "go":
		value, ok := u.Lookup("GOPROXY")
		if !ok {
			value = u.setting("GOPROXY", u.configDir("go", "env"))
		}
		return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '|' })
	case "npm":
		return []string{u.setting("registry", filepath.Join(u.Home, ".npmrc"))}
	case "pypi":
		if value, ok := u.Lookup("PIP_INDEX_URL"); ok {
			return []string{value}
		}
		return []string{
			u.setting("index-url", u.configDir("pip", "pip.conf")),
			u.setting("index-url", filepath.Join(u.Home, ".pip", "pip.conf")),
		}
	}
	return nil
}

func (u User) configDir(parts ...string) string {
	base, ok := u.Lookup("XDG_CONFIG_HOME")
	if !ok || !filepath.IsAbs(base) {
		base = filepath.Join(u.Home, ".config")
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// setting returns the value of "name = value" in a file, "" for none.
func (u User) setting(name, path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxUserFile))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// entryOf makes an entry of a registry's URL. Logins in it are dropped.
func entryOf(text string) (hosts.Entry, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return hosts.Entry{}, false
	}
	host := u.Host
	if u.Port() == "" {
		host += map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	}
	e, err := hosts.Parse(host)
	return e, err == nil
}

// covers tells whether the preset allows the host anyway.
func covers(p preset.Preset, e hosts.Entry) bool {
	var list hosts.List
	for _, h := range p.Hosts {
		list = append(list, h.Entry)
	}
	_, ok := list.Match(hosts.Target{Name: e.Host, Addr: e.Addr, Port: e.Port})
	return ok
}
