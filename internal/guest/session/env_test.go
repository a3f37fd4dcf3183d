package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"aibox/internal/wire"
)

func TestEnvironment(t *testing.T) {
	got := Environment(wire.Boot{
		UID:  501,
		Path: []string{"/opt/a", "relative", "/with:colon", "/opt/b"},
		Env:  []string{"COLORTERM=mine", "A=1", "no equal sign", "=x", "A=2", "1A=x", "N=\x00"},
		Git:  []wire.Setting{{Name: "user.name", Value: "A = B"}, {Name: "user.email", Value: "a@b"}},
		API:  true,
		IDE:  true,
	}, []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=de_DE.UTF-8"})
	want := []string{
		"HOME=/home/user", "USER=user", "LOGNAME=user", "SHELL=/bin/bash",
		"PATH=/opt/a:/opt/b:/home/user/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"XDG_RUNTIME_DIR=/run/user/501",
		"AIBOX=1",
		"HTTP_PROXY=http://127.0.0.1:3128", "http_proxy=http://127.0.0.1:3128",
		"HTTPS_PROXY=http://127.0.0.1:3128", "https_proxy=http://127.0.0.1:3128",
		"NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1",
		"GOMODCACHE=/home/user/.cache/go-mod",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		"ANTHROPIC_BASE_URL=http://127.0.0.1:3129", "ANTHROPIC_API_KEY=" + wire.APIKeyPlaceholder,
		"CLAUDE_CODE_SSE_PORT=3131",
		"LANG=de_DE.UTF-8", "TERM=xterm-256color", "COLORTERM=mine",
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=A = B",
		"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=a@b",
		"A=2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Environment (-want +got):\n%s", diff)
	}
	for _, v := range Environment(wire.Boot{}, nil) {
		if strings.HasPrefix(v, "ANTHROPIC_") || strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "CLAUDE_CODE_SSE") {
			t.Errorf("a plain session has %s", v)
		}
	}
}

func TestClientVariables(t *testing.T) {
	for _, c := range []struct {
		name, value string
		ok          bool
	}{
		{"LANG", "C", true}, {"LC_ALL", "de_DE.UTF-8", true}, {"COLORTERM", "truecolor", true}, {"TERM", "xterm", true},
		{"LC_", "x", true}, {"LC_A B", "x", false}, {"LC_A=B", "x", false},
		{"PATH", "/tmp", false}, {"LD_PRELOAD", "/tmp/x", false}, {"LANGUAGE", "x", false}, {"", "x", false},
		{"LANG", strings.Repeat("x", maxEnvValue+1), false}, {"LANG", "a\nb", false}, {"LANG", "a\x00", false},
	} {
		got, ok := parseEnv(ssh.Marshal(envRequest{c.name, c.value}))
		if ok != c.ok || ok && got != c.name+"="+c.value || !ok && got != "" {
			t.Errorf("parseEnv(%q, %.20q) = %q, %v, want %v", c.name, c.value, got, ok, c.ok)
		}
	}
}

func TestTerminal(t *testing.T) {
	got, ok := parseTerminal(ssh.Marshal(ptyRequest{"xterm-256color", 80, 100000, 5, 1 << 20, "\x00"}))
	want := Terminal{"xterm-256color", Window{80, maxSide, 5, 65535}}
	if !ok || got != want {
		t.Errorf("parseTerminal = %+v, %v, want %+v", got, ok, want)
	}
	for _, name := range []string{"", "a/b", "../x", ".x", "a b", strings.Repeat("x", maxTerm+1), "a\n"} {
		if _, ok := parseTerminal(ssh.Marshal(ptyRequest{Term: name})); ok {
			t.Errorf("terminal %q was accepted", name)
		}
	}
}

func FuzzRequests(f *testing.F) {
	f.Add(ssh.Marshal(envRequest{"LANG", "C"}))
	f.Add(ssh.Marshal(ptyRequest{"xterm", 80, 24, 0, 0, ""}))
	f.Add(ssh.Marshal(execRequest{"id"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, ok := parseEnv(b); ok != (v != "") || strings.ContainsAny(v, "\x00\n") {
			t.Errorf("parseEnv = %q, %v", v, ok)
		}
		if term, ok := parseTerminal(b); ok != validTerm(term.Name) {
			t.Errorf("parseTerminal = %+v, %v", term, ok)
		}
		if line, ok := parseCommand(b); ok != (line != "") || strings.ContainsRune(line, 0) {
			t.Errorf("parseCommand = %q, %v", line, ok)
		}
		parseWindow(b)
	})
}
