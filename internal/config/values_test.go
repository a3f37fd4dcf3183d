package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Mistakes in the values of single keys: one text with one mistake each.
func TestValueMistakes(t *testing.T) {
	const own = "choose a path of its own, such as /docs"
	for _, test := range []struct{ text, want string }{
		{"allow: [localhost:80]", `1:9: allow: "localhost:80" is no entry | for a port of this machine write 127.0.0.1:80 or [::1]:80`},
		{`allow: ["*"]`, `1:9: allow: "*" would allow every host | list the hosts, or all below a domain as *.example.com`},
		{"allow: [https://a.com/x]", `1:9: allow: "https://a.com/x" is a URL, not a host | write a.com`},
		{"allow: [127.0.0.1:3129]", `1:9: allow: "127.0.0.1:3129" has a port that aibox itself uses in the VM | use a port outside 3128 to 3132`},
		{"allow: [\"preset:gO\"]", `1:9: allow: there is no preset "gO" | did you mean preset:go?`},
		{"allow: [preset:zig]", `1:9: allow: there is no preset "zig" | the presets are go, npm, pypi, cargo, github, docker, debian, maven, rubygems, gitlab, nuget, packagist`},
		{"allow: [preset:gihtub]", `1:9: allow: there is no preset "gihtub" | did you mean preset:github?`},
		{"allow: [preset:go, preset:go]", `1:20: allow: "preset:go" is listed twice, first on line 1 | remove one of the two`},
		{"allow:\n- a.com\n- a.com:443", `3:3: allow: "a.com:443" is listed twice, first on line 2 | remove one of the two`},
		{"allow:\n- 127.0.0.1:80\n- '[::1]:80'", `3:3: allow: "[::1]:80" lists a port of the other loopback address too, first on line 2 | keep 127.0.0.1:80 or [::1]:80`},

		{"mounts: [/src]", `1:10: mounts: "/src" has no path in the VM | write "/src:/guest/path"`},
		{"mounts: ['src:/src']", `1:10: mounts: the folder "src" is neither absolute nor below ~/ | write the whole path, or ~/ and the path below your home`},
		{"mounts: ['~bob/x:/src']", `1:10: mounts: the folder "~bob/x" is another user's home, which is not looked up | write the whole path`},
		{"mounts: [':/src']", `1:10: mounts: the folder of this machine is missing | write host folder, colon, path in the VM, such as ~/docs:/docs`},
		{"mounts: ['~/a:b']", `1:10: mounts: the path in the VM "b" is not absolute | write the whole path, such as /docs`},
		{"mounts: ['~/a:/b/../usr']", `1:10: mounts: the path in the VM "/b/../usr" is not in its shortest form | write "/usr"`},
		{"mounts: ['~/a:/usr']", `1:10: mounts: the path in the VM "/usr" would cover /usr, which the VM needs | ` + own},
		{"mounts: ['~/a:/usr/share/x']", `1:10: mounts: the path in the VM "/usr/share/x" would cover /usr, which the VM needs | ` + own},
		{"mounts: ['~/a:/']", `1:10: mounts: the path in the VM "/" would cover /project, which the VM needs | ` + own},
		{"mounts: ['~/a:/home']", `1:10: mounts: the path in the VM "/home" would cover /home/user/.claude, which the VM needs | ` + own},
		{"mounts: ['~/a:/home/user/.claude']", `1:10: mounts: the path in the VM "/home/user/.claude" would cover /home/user/.claude, which the VM needs | ` + own},
		{"mounts: ['~/a:/home/user/.claude/skills']", `1:10: mounts: "/home/user/.claude/skills" is where your ~/.claude/skills goes | write skills: false to keep your own out`},
		{"mounts: [\"~/a:/b\\x1b\"]", `1:10: mounts: the path in the VM "/b\x1b" holds a control character | choose another one, such as /docs`},
		{"mounts:\n- ~/a:/b\n- ~/c:/b/d", `3:3: mounts: the path in the VM "/b/d" overlaps "/b" on line 2 | give each mount a path of its own`},

		{"path: [bin/x]", `1:8: path: "bin/x" is neither an absolute folder nor the name of a variable | write a folder of the VM such as /opt/tools/bin, or a variable's name such as DIRENV_PATH`},
		{"path: [~/bin]", `1:8: path: "~/bin" could be this machine's home or the VM's | write "/home/user/bin" for the VM's home`},
		{"path: ['/a:/b']", `1:8: path: "/a:/b" is neither an absolute folder nor the name of a variable | write a folder of the VM such as /opt/tools/bin, or a variable's name such as DIRENV_PATH`},
		{"path: [/a, /a]", `1:12: path: "/a" is listed twice, first on line 1 | remove one of the two`},

		{"env: [A-B=c]", `1:7: env: "A-B" is no name of a variable | write NAME=value, or NAME to pass this machine's value`},
		{"env: [=c]", `1:7: env: "" is no name of a variable | write NAME=value, or NAME to pass this machine's value`},
		{"env: [HOME]", `1:7: env: HOME is set by aibox | remove this item`},
		{"env: [PATH=/bin]", `1:7: env: PATH is set by aibox | list folders under "path" instead`},
		{"env: [https_proxy]", `1:7: env: https_proxy is set by aibox to its own proxy | list the hosts under "allow" instead`},
		{"env: [A=1, A]", `1:12: env: A is listed twice, first on line 1 | keep one of the two`},
		{"env: [ANTHROPIC_BASE_URL=x, ANTHROPIC_API_KEY]", `1:7: env: ANTHROPIC_BASE_URL is set by aibox when ANTHROPIC_API_KEY is listed | remove one of the two`},
		{"env: [GIT_CONFIG_COUNT=1]\ngit: [{remote: a.com/b, fetch: true}]", `1:7: env: GIT_CONFIG_COUNT is set by aibox when "git" is set | remove this item`},
		{"env: [\"A=\\0\"]", `1:7: env: the value of A holds a zero byte | remove it`},

		{"git: [github.com/me/app]", `1:7: an item of git must be a mapping with the key remote, not the text "github.com/me/app" | ` + gitExample},
		{"git: [{fetch: true}]", `1:7: git: the key remote is missing | ` + gitExample},
		{"git: [{remote: a.com/b}]", `1:7: git: "a.com/b" allows nothing | add fetch: true or push: [main]`},
		{"git: [{remote: a.com/b, fetsh: true}]", `1:25: unknown key "fetsh" | did you mean "fetch"?`},
		{"git: [{remote: 'https://a.com/b.git', fetch: true}]", `1:16: git: "https://a.com/b.git" is a URL | write "a.com/b"`},
		{"git: [{remote: a.com/~me/b, fetch: true}]", `1:16: git: "a.com/~me/b" names a user's home, which servers read in different ways | write host and path, such as github.com/me/app`},
		{"git: [{remote: a.com/b, push: [x, x]}]", `1:35: git: the push pattern "x" is listed twice | remove one of the two`},
		{"git: [{remote: a.com/b.git, fetch: true}]", `1:16: git: "a.com/b.git" ends in .git | write "a.com/b"`},
		{"git: [{remote: 'git@a.com/b', fetch: true}]", `1:16: git: "git@a.com/b" does not begin with a host's name in lower case and without a port | write host and path, such as github.com/me/app`},
		{"git: [{remote: a.com/../b, fetch: true}]", `1:16: git: "a.com/../b" has a path of other than letters, digits and . _ - + ~ | write host and path, such as github.com/me/app`},
		{"git: [{remote: a.com/b, push: [refs/heads/x]}]", `1:32: git: the push pattern "refs/heads/x" is a full reference | write "x"`},
		{"git: [{remote: a.com/b, push: ['a b']}]", `1:32: git: the push pattern "a b" holds what no branch's name can | write a branch's name, or a pattern such as "claude/*"`},
		{"git: [{remote: a.com/b, push: [a..b]}]", `1:32: git: the push pattern "a..b" can match no branch | write a branch's name, or a pattern such as "claude/*"`},
		{"git:\n- {remote: a.com/b, fetch: true}\n- {remote: a.com/B, fetch: true}", `3:3: git: "a.com/B" is listed twice, first on line 2 | join the two`},
	} {
		if diff := cmp.Diff([]string{test.want}, mistakesOf(t, test.text)); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestPresetsInAllow(t *testing.T) {
	s, err := Parse("c", []byte("allow: [api.github.com, preset:packagist, preset:github]"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, e := range s.Allow {
		if e.String() == "api.github.com" {
			count++
		}
	}
	if count != 1 || len(s.Allow) != 6 {
		t.Errorf("allow = %v, want each of 6 hosts once", s.Allow)
	}
}

func TestCheckAllow(t *testing.T) {
	for in, want := range map[string]string{"A.com:443": "a.com", "preset:go": "preset:go", "[::1]:80": "[::1]:80", "*.a.com": "*.a.com"} {
		if got, err := CheckAllow(in); err != nil || got != want {
			t.Errorf("CheckAllow(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "preset:", "preset:goo", "localhost", "*"} {
		if got, err := CheckAllow(bad); err == nil || got != "" {
			t.Errorf("CheckAllow(%q) = %q, %v, want an error", bad, got, err)
		}
	}
}

func TestResolve(t *testing.T) {
	env := map[string]string{"DIRS": "/a:relative::/b:/opt/x", "TOKEN": "t", "ANTHROPIC_API_KEY": "sk-1", "EMPTY": ""}
	host := Host{Home: "/home/me", Lookup: func(n string) (string, bool) { v, ok := env[n]; return v, ok }}
	s, err := Parse("c", []byte(`
mounts: [~/docs:/docs, '~:/all', /srv//x/:/x]
path: [/opt/x, DIRS, NOSUCH]
env: [TOKEN, MISSING, EMPTY, A=b=c, ANTHROPIC_API_KEY]
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Resolve(host)
	if err != nil {
		t.Fatal(err)
	}
	want := Resolved{
		Mounts: []Mount{{"/home/me/docs", "/docs"}, {"/home/me", "/all"}, {"/srv/x", "/x"}},
		Path:   []string{"/opt/x", "/a", "/b"},
		Env:    []EnvVar{{Name: "TOKEN", Value: "t"}, {Name: "EMPTY"}, {Name: "A", Value: "b=c"}},
		APIKey: "sk-1",
		Unset:  []string{"NOSUCH", "MISSING"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Resolve (-want +got):\n%s", diff)
	}
	if text := got.APIKey.String() + got.APIKey.LogValue().String(); strings.Contains(text, "sk-1") {
		t.Errorf("the key shows in %q", text)
	}
	env["TOKEN"] = "\xff"
	if _, err := s.Resolve(host); err == nil || !strings.Contains(err.Error(), "TOKEN is not UTF-8") {
		t.Errorf("not UTF-8: %v", err)
	}
	env["TOKEN"] = strings.Repeat("x", maxValue+1)
	if _, err := s.Resolve(host); err == nil || !strings.Contains(err.Error(), "TOKEN is too long") {
		t.Errorf("too long: %v", err)
	}
	env["ANTHROPIC_API_KEY"], env["TOKEN"] = "", "t"
	if r, err := s.Resolve(host); err != nil || !slices.Contains(r.Unset, APIKeyName) {
		t.Errorf("empty key: %v, %v", r.Unset, err)
	}
}
