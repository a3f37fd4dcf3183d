package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/fault"
)

// keyring holds Debian's signing keys; the package debian-archive-keyring of
// Debian and of Ubuntu puts it there.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// targetFormat makes apt-get indextargets print one index a line.
const targetFormat = "$(ORIGIN)\t$(LABEL)\t$(REPO_URI)"

// mirror finds where Debian's packages come from and fetches from there. No
// address is written down: it is the caller's, or that of the machine's own
// apt configuration, or the default of mmdebstrap, in this order.
type mirror struct {
	uri   string // the caller's, or empty
	suite string
	tools *tools
}

// sources returns the lines of an apt sources.list for the suite.
func (m mirror) sources(ctx context.Context) ([]string, error) {
	if _, err := os.Stat(keyring); err != nil {
		return nil, fault.New(fault.Machine, "install the package debian-archive-keyring: make setup", "Debian's signing keys are missing: %w", err)
	}
	if m.uri != "" {
		return []string{sourceLine(m.uri, m.suite)}, nil
	}
	targets, err := m.tools.output(ctx, command{args: []string{"apt-get", "indextargets", "--format", targetFormat}})
	if err != nil {
		return nil, err
	}
	if lines := sourcesOf(targets, m.suite); len(lines) > 0 {
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
func (m mirror) defaultSources(ctx context.Context) ([]string, error) {
	const enough = 7
	hook := fmt.Sprintf(`cat "$1"/etc/apt/sources.list; exit %d`, enough)
	text, err := m.tools.output(ctx, command{args: []string{
		"mmdebstrap", "--mode=" + debstrapMode(), "--variant=extract", "--format=null",
		"--setup-hook=" + hook, m.suite, "-"}})
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

// debstrapMode is the way in which mmdebstrap becomes root of its chroot.
func debstrapMode() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "unshare"
}

// apt is a private apt: its lists and cache are below one folder, and the
// machine's packages and sources play no part.
type apt struct {
	config string
	dir    string
	tools  *tools
}

// openApt writes the configuration below dir and reads the package lists.
func (m mirror) openApt(ctx context.Context, dir string) (*apt, error) {
	lines, err := m.sources(ctx)
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	a := &apt{filepath.Join(dir, "apt.conf"), dir, m.tools}
	files := map[string]string{
		a.config:                           aptConfig(dir),
		filepath.Join(dir, "sources.list"): strings.Join(lines, "\n") + "\n",
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return a, m.tools.run(ctx, a.command("apt-get", "--quiet", "update"))
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

func (a *apt) command(args ...string) command {
	return command{dir: a.dir, env: []string{"APT_CONFIG=" + a.config}, args: args}
}

// versions returns the versions of a package that the mirror has, newest first.
func (a *apt) versions(ctx context.Context, name string) ([]string, error) {
	text, err := a.tools.output(ctx, a.command("apt-cache", "madison", name))
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

// download fetches one package, which apt checks against the signed lists, and
// returns the path of the .deb.
func (a *apt) download(ctx context.Context, name, version string) (string, error) {
	if err := a.tools.run(ctx, a.command("apt-get", "--quiet", "download", name+"="+version)); err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(a.dir, name+"_*.deb"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("apt-get download %s left %d files: %w", name, len(found), err)
	}
	return found[0], nil
}
