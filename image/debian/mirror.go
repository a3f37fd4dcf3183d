// Package debian finds a mirror of Debian and fetches packages from it, without
// touching the machine's own package system.
package debian

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aibox/image/tool"
	"aibox/internal/fault"
)

// keyring holds Debian's signing keys; the package debian-archive-keyring of
// Debian and of Ubuntu puts it there.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// targetFormat makes apt-get indextargets print one index a line.
const targetFormat = "$(ORIGIN)\t$(LABEL)\t$(REPO_URI)"

// Mirror finds where Debian's packages come from and fetches from there. No
// address is written down: it is the caller's, or that of the machine's own
// apt configuration, or the default of mmdebstrap, in this order.
type Mirror struct {
	URI   string // the caller's, or empty
	Suite string
	Tools *tool.Runner
}

// Sources returns the lines of an apt sources.list for the suite.
func (m Mirror) Sources(ctx context.Context) ([]string, error) {
	if _, err := os.Stat(keyring); err != nil {
		return nil, fault.New(fault.Machine, "install the package debian-archive-keyring: make setup", "Debian's signing keys are missing: %w", err)
	}
	if m.URI != "" {
		return []string{sourceLine(m.URI, m.Suite)}, nil
	}
	targets, err := m.Tools.Output(ctx, tool.Command{Args: []string{"apt-get", "indextargets", "--format", targetFormat}})
	if err != nil {
		return nil, err
	}
	if lines := sourcesOf(targets, m.Suite); len(lines) > 0 {
		return lines, nil
	}
	return m.defaultSources(ctx)
}

// sourcesOf derives sources for suite from what the machine's apt says of its
// own: the first repository of Debian, and its security updates. It is empty on
// a machine that has no repository of Debian, such as Ubuntu.
func sourcesOf(targets, suite string) []string {
	var main, security string
	for line := range strings.Lines(targets) {
		field := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(field) != 3 || field[0] != "Debian" || field[2] == "" {
			continue
		}
		switch {
		case field[1] == "Debian" && main == "":
			main = field[2]
		case field[1] == "Debian-Security" && security == "":
			security = field[2]
		}
	}
	if main == "" {
		return nil
	}
	lines := []string{sourceLine(main, suite), sourceLine(main, suite+"-updates")}
	if security != "" {
		lines = append(lines, sourceLine(security, suite+"-security"))
	}
	return lines
}

func sourceLine(uri, suite string) string {
	return fmt.Sprintf("deb [signed-by=%s] %s %s main", keyring, uri, suite)
}

// defaultSources asks mmdebstrap what it would use, and stops it there.
func (m Mirror) defaultSources(ctx context.Context) ([]string, error) {
	const enough = 7
	hook := fmt.Sprintf(`cat "$1"/etc/apt/sources.list; exit %d`, enough)
	text, err := m.Tools.Output(ctx, tool.Command{Args: []string{
		"mmdebstrap", "--mode=" + DebstrapMode(), "--variant=extract", "--format=null",
		"--setup-hook=" + hook, m.Suite, "-"}})
	var lines []string
	for line := range strings.Lines(text) {
		if uri, ok := strings.CutPrefix(strings.TrimSpace(line), "deb http"); ok {
			lines = append(lines, "deb [signed-by="+keyring+"] http"+uri)
		}
	}
	if len(lines) == 0 {
		return nil, fault.New(fault.Machine, "name a mirror of Debian: make image IMAGE_FLAGS='--mirror URL'",
			"no mirror of Debian is known here: %w", err)
	}
	return lines, nil
}

// DebstrapMode is the way in which mmdebstrap becomes root of its chroot.
func DebstrapMode() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "unshare"
}

// Apt is a private apt: its lists and cache are below one folder, and the
// machine's packages and sources play no part.
type Apt struct {
	config string
	dir    string
	tools  *tool.Runner
}

// OpenApt writes the configuration below dir and reads the package lists.
func (m Mirror) OpenApt(ctx context.Context, dir string) (*Apt, error) {
	lines, err := m.Sources(ctx)
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	a := &Apt{filepath.Join(dir, "apt.conf"), dir, m.Tools}
	files := map[string]string{
		a.config:                           aptConfig(dir),
		filepath.Join(dir, "sources.list"): strings.Join(lines, "\n") + "\n",
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return a, m.Tools.Run(ctx, a.command("apt-get", "--quiet", "update"))
}

func aptConfig(dir string) string {
	var b strings.Builder
	for _, c := range [][2]string{
		{"Dir::State", dir}, {"Dir::State::Lists", dir + "/lists"}, {"Dir::State::status", "/dev/null"},
		{"Dir::Cache", dir}, {"Dir::Cache::archives", dir + "/archives"},
		{"Dir::Etc::sourcelist", dir + "/sources.list"}, {"Dir::Etc::sourceparts", "-"},
		{"Dir::Etc::preferences", "-"}, {"Dir::Etc::preferencesparts", "-"},
		{"APT::Architecture", "amd64"}, {"APT::Architectures", "amd64"}, {"Acquire::Languages", "none"},
		// An error while reading lists must not pass for an older list.
		{"APT::Update::Error-Mode", "any"},
	} {
		fmt.Fprintf(&b, "%s %q;\n", c[0], c[1])
	}
	return b.String()
}

func (a *Apt) command(args ...string) tool.Command {
	return tool.Command{Dir: a.dir, Env: []string{"APT_CONFIG=" + a.config}, Args: args}
}

// Versions returns the versions of a package that the mirror has, newest first.
func (a *Apt) Versions(ctx context.Context, name string) ([]string, error) {
	text, err := a.tools.Output(ctx, a.command("apt-cache", "madison", name))
	if err != nil {
		return nil, err
	}
	var versions []string
	for line := range strings.Lines(text) {
		if field := strings.Split(line, "|"); len(field) == 3 {
			versions = append(versions, strings.TrimSpace(field[1]))
		}
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("the mirror has no package %s", name)
	}
	return versions, nil
}

// Download fetches one package, which apt checks against the signed lists, and
// returns the path of the .deb.
func (a *Apt) Download(ctx context.Context, name, version string) (string, error) {
	if err := a.tools.Run(ctx, a.command("apt-get", "--quiet", "download", name+"="+version)); err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(a.dir, name+"_*.deb"))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("apt-get download %s left %d files, not one", name, len(found))
	}
	return found[0], nil
}
