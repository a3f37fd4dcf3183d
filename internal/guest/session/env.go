package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aibox/internal/guest/names"
	"aibox/internal/wire"
)

// Environment returns the environment of a session: init's own variables, then
// those the client sent, then those of the configuration; a later one wins.
// What is no NAME=value is left out.
func Environment(boot wire.Boot, client []string) []string {
	e := env{at: map[string]int{}}
	e.add(own(boot)...)
	e.add("LANG=C.UTF-8") // where the client says nothing
	e.add(client...)
	e.add(git(boot.Git)...)
	e.add(boot.Env...)
	return e.list
}

func own(boot wire.Boot) []string {
	proxy := fmt.Sprintf("http://127.0.0.1:%d", wire.ProxyPort)
	direct := "localhost,127.0.0.1,::1"
	list := []string{
		"HOME=" + wire.GuestHome,
		"USER=" + wire.GuestUser,
		"LOGNAME=" + wire.GuestUser,
		"SHELL=" + names.Shell,
		"PATH=" + Path(boot.Path),
		"XDG_RUNTIME_DIR=" + names.RuntimeDir(boot.UID),
		"AIBOX=1",
		"HTTP_PROXY=" + proxy, "http_proxy=" + proxy,
		"HTTPS_PROXY=" + proxy, "https_proxy=" + proxy,
		"NO_PROXY=" + direct, "no_proxy=" + direct,
		"GOMODCACHE=" + wire.GuestHome + "/.cache/go-mod",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1", // it would be refused in each session, and told to the user
	}
	if boot.API {
		list = append(list,
			fmt.Sprintf("ANTHROPIC_BASE_URL=http://127.0.0.1:%d", wire.APIPort),
			"ANTHROPIC_API_KEY="+wire.APIKeyPlaceholder)
	}
	if boot.IDE {
		list = append(list, fmt.Sprintf("CLAUDE_CODE_SSE_PORT=%d", wire.IDEPort))
	}
	return list
}

// Path is the VM's PATH with folders in front. Those that are not absolute, or
// hold what ends an entry, are left out.
func Path(front []string) string {
	var list []string
	for _, dir := range front {
		if strings.HasPrefix(dir, "/") && !strings.ContainsAny(dir, ":\n\x00") {
			list = append(list, dir)
		}
	}
	list = append(list, wire.GuestHome+"/.local/bin",
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
	return strings.Join(list, ":")
}

// git passes settings to every git of the session, above all its files.
func git(settings []wire.Setting) []string {
	if len(settings) == 0 {
		return nil
	}
	list := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings))}
	for i, s := range settings {
		n := strconv.Itoa(i)
		list = append(list, "GIT_CONFIG_KEY_"+n+"="+s.Name, "GIT_CONFIG_VALUE_"+n+"="+s.Value)
	}
	return list
}

// clientMaySet names what the client's terminal decides.
func clientMaySet(name string) bool {
	return slices.Contains([]string{"TERM", "COLORTERM", "LANG"}, name) || strings.HasPrefix(name, "LC_") && validName(name)
}

// validName tells whether name can be a variable's name in a shell.
func validName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// env is a list of variables without doubles, in the order of first mention.
type env struct {
	list []string
	at   map[string]int
}

func (e *env) add(vars ...string) {
	for _, v := range vars {
		name, _, ok := strings.Cut(v, "=")
		if !ok || !validName(name) || strings.ContainsRune(v, 0) {
			continue
		}
		if i, double := e.at[name]; double {
			e.list[i] = v
			continue
		}
		e.at[name] = len(e.list)
		e.list = append(e.list, v)
	}
}
