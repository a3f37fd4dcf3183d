package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// systems are the operating systems that every rule about imports holds for.
func systems() []string { return []string{"linux", "darwin", "windows"} }

// rule says what a package, or every package below it, may import beside the
// standard library. The rule of the longest name counts.
type rule struct {
	pkg string
	own []string // packages of this module; "x/..." for x and all below
	lib []string // module paths of others
}

// rules are the arrows of the architecture. Two things beside them hold for all:
// nothing but cmd and tests imports cli, and a package may import what is below it.
func rules() []rule {
	const (
		xsys, xterm, ssh = "golang.org/x/sys", "golang.org/x/term", "golang.org/x/crypto"
		yamux, progress  = "github.com/hashicorp/yamux", "github.com/schollz/progressbar/v3"
		flock, yaml      = "github.com/gofrs/flock", "go.yaml.in/yaml/v4"
	)
	lifecycle := []string{
		"internal/vm/...", "internal/share/...", "internal/border/...", "internal/jail/...", "internal/proc", "internal/project/...",
		"internal/config/...", "internal/image", "internal/gitlogin", "internal/ide", "internal/pasteboard", "internal/usersetup", "internal/wire/...", "internal/plain", "internal/hosts", "internal/fault",
	}
	border := []string{"internal/wire/...", "internal/plain", "internal/hosts"}
	return []rule{
		{"cmd/aibox", []string{"internal/cli"}, nil},
		{"cmd/aibox-man", []string{"internal/cli", "internal/cli/man"}, nil},
		{"cmd/aibox-init", []string{"internal/guest/..."}, nil},
		{"internal/cli", []string{
			"internal/run", "internal/run/proxylog", "internal/task/...", "internal/config/...", "internal/project/...", "internal/image", "internal/doctor", "demo", "internal/jail/helper", "internal/pasteboard", "internal/share/ninep/helper", "internal/cli/...",
			"internal/plain", "internal/hosts", "internal/fault",
		}, []string{"github.com/spf13/cobra", xterm, progress}},
		{"internal/run", append([]string{"internal/run/..."}, lifecycle...), []string{xsys, xterm, ssh}},
		{"internal/task", lifecycle, []string{xsys}},
		{"internal/doctor", lifecycle, []string{xsys}},
		{"internal/vm", []string{"internal/vm", "internal/proc", "internal/jail/...", "internal/wire", "internal/fault", "internal/plain"},
			[]string{xsys, "github.com/mdlayher/vsock", "github.com/ebitengine/purego", "github.com/Microsoft/go-winio"}},
		{"internal/share", []string{"internal/share/...", "internal/plain", "internal/proc", "internal/jail/...", "internal/fault"}, []string{xsys}},
		{"internal/jail", []string{"internal/jail/...", "internal/proc", "internal/plain", "internal/fault"},
			[]string{xsys, "golang.org/x/net", "github.com/landlock-lsm/go-landlock", "github.com/elastic/go-seccomp-bpf"}},
		{"internal/proc", []string{"internal/plain", "internal/fault"}, []string{xsys}},
		{"internal/ide", []string{"internal/wire"}, []string{xsys}},
		{"internal/pasteboard", []string{"internal/jail/...", "internal/proc", "internal/plain"}, nil},
		{"internal/gitlogin", []string{"internal/proc", "internal/plain", "internal/border/gitgate/..."}, []string{ssh, "github.com/skeema/knownhosts"}},
		{"internal/config", []string{"internal/config/...", "internal/hosts", "internal/fault"}, []string{yaml}},
		{"internal/usersetup", []string{"internal/config", "internal/project", "internal/wire"}, nil},
		{"internal/project", []string{"internal/fault", "internal/plain"}, []string{flock, xsys}},
		{"internal/image", []string{"internal/fault", "internal/plain", "internal/wire"}, []string{xsys, xterm, progress}},

		{"internal/border", border, nil}, // new border packages name their library in a rule of their own
		{"internal/border/link", border, []string{yamux}},
		{"internal/border/terminal", append([]string{"internal/border/terminal/tty"}, border...), []string{ssh}},
		{"internal/border/terminal/tty", border, []string{xsys, xterm}},
		{"internal/border/egress", append([]string{"internal/border/egress/..."}, border...), nil},
		{"internal/border/gitgate", append([]string{"internal/border/gitgate/..."}, border...), []string{ssh}},
		{"internal/border/idebridge", append([]string{"internal/border/idebridge/..."}, border...), []string{"github.com/coder/websocket"}},

		{"internal/guest", []string{"internal/guest/...", "internal/wire/..."}, []string{xsys, yamux, ssh, "github.com/creack/pty", "github.com/mdlayher/vsock"}},
		{"internal/wire", nil, nil},
		{"internal/plain", nil, nil},
		{"internal/fault", nil, nil},
		{"internal/hosts", nil, nil},
		{"demo", []string{"internal/fault", "internal/plain", "internal/wire/..."}, nil},
		{"image", []string{"image/...", "internal/fault", "internal/plain"}, []string{xsys, xterm, progress, flock}},
	}
}

// execAllowed says who may start programs, and why.
func execAllowed() map[string]string {
	return map[string]string{
		"internal/proc": "the one place that starts long-lived programs",
		"internal/run":  "a run confines its process for good, so the demo starts a copy of this program for it",
		"internal/cli":  "config edit starts the user's editor, which has the terminal until it ends",
		"image":         "the build of the image runs Debian's tools on the developer's machine",
		"test":          "tests start what they test",
	}
}

func TestImports(t *testing.T) {
	told := map[string]bool{}
	for _, goos := range systems() {
		for _, p := range goList(t, goos, "-deps", "./...") {
			name, ok := strings.CutPrefix(p.ImportPath, module+"/")
			if !ok || p.Standard || within(name, "test") {
				continue
			}
			for _, problem := range checkImports(name, p) {
				if !told[problem] {
					told[problem] = true
					t.Errorf("%s (%s)", problem, goos)
				}
			}
		}
	}
}

func checkImports(name string, p pkg) (problems []string) {
	say := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s: ", name)+fmt.Sprintf(format, args...))
	}
	r, ok := ruleOf(name)
	if !ok {
		say("no rule names this package: add one to rules() and to ARCHITECTURE.md")
		return problems
	}
	for _, imported := range p.Imports {
		own, isOwn := strings.CutPrefix(imported, module+"/")
		first, _, _ := strings.Cut(imported, "/")
		switch {
		case imported == "C":
			say("imports C: aibox is built without cgo")
		case isOwn:
			if !within(own, name) && !slices.ContainsFunc(r.own, func(pattern string) bool { return matches(own, pattern) }) {
				say("imports %s, which the arrows do not allow: pass what you need as an argument, or move it to where both may look", own)
			}
		case strings.Contains(first, "."):
			if !slices.ContainsFunc(r.lib, func(lib string) bool { return within(imported, lib) }) {
				say("imports %s, which is no library of this package: use the package that wraps it, or name it in rules() with its reason in docs/dependencies.md", imported)
			}
		case imported == "os/exec":
			if !slices.ContainsFunc(keys(execAllowed()), func(dir string) bool { return within(name, dir) }) {
				say("imports os/exec: start programs through internal/proc, or give a reason in execAllowed()")
			}
		}
	}
	if within(name, "internal/border") {
		for _, dep := range []string{"os/exec", "plugin", module + "/internal/config", module + "/internal/cli"} {
			if slices.Contains(p.Deps, dep) {
				say("depends on %s, if only through another package: code that reads the VM's bytes must not", dep)
			}
		}
	}
	return problems
}

// ruleOf returns the rule with the longest name for a package.
func ruleOf(name string) (found rule, ok bool) {
	for _, r := range rules() {
		if within(name, r.pkg) && len(r.pkg) >= len(found.pkg) {
			found, ok = r, true
		}
	}
	return found, ok
}

// within tells whether name is dir or below it.
func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

func matches(name, pattern string) bool {
	if dir, all := strings.CutSuffix(pattern, "/..."); all {
		return within(name, dir)
	}
	return name == pattern
}

func keys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// TestRulesBite shows that the check is no empty one.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct{ name, imported, want string }{
		{"internal/border/egress", module + "/internal/border/link", "arrows"},
		{"internal/border/egress", module + "/internal/config", "arrows"},
		{"internal/border/egress", "github.com/hashicorp/yamux", "no library"},
		{"internal/border/egress", "os/exec", "start programs"},
		{"internal/guest/boot", module + "/internal/fault", "arrows"},
		{"internal/run", module + "/internal/guest/boot", "arrows"},
		{"internal/run", module + "/internal/cli", "arrows"},
		{"internal/wire", "golang.org/x/sys/unix", "no library"},
		{"internal/hosts", "C", "cgo"},
		{"internal/brandnew", "fmt", "no rule"},
		{"internal/runner", "fmt", "no rule"},
	} {
		got := strings.Join(checkImports(c.name, pkg{Imports: []string{c.imported}}), "\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s importing %s: %q, want %q", c.name, c.imported, got, c.want)
		}
	}
	good := pkg{Imports: []string{"net/http", module + "/internal/wire", module + "/internal/wire/mux", "github.com/hashicorp/yamux"}}
	if got := checkImports("internal/border/link", good); len(got) > 0 {
		t.Errorf("a good package is refused: %q", got)
	}
	if got := checkImports("internal/border/link", pkg{Deps: []string{"os/exec"}}); len(got) == 0 {
		t.Error("os/exec below a border package is not seen")
	}
}
