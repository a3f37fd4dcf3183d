package archtest

import (
	"bytes"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxTracked bounds a file of the repository in bytes.
const maxTracked = 1 << 20

// TestNoRegistryHosts looks for the registries that this machine is configured
// with. They are private on some machines, and a written host fails elsewhere.
func TestNoRegistryHosts(t *testing.T) {
	hosts := registryHosts(t)
	if len(hosts) == 0 {
		t.Log("this machine's configuration names no registry")
		return
	}
	r := repository(t)
	pattern := hostPattern(hosts)
	r.scan(t, pattern, "names a registry's host: take it from the machine's configuration at run time, or name the domain's wildcard")
	log := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "log", "--format=%H %B")
	log.Dir = r.root
	if out, err := log.Output(); err == nil && pattern.Match(out) {
		t.Errorf("a commit message names a registry's host at byte %d of `git log --format='%%H %%B'`: reword it", pattern.FindIndex(out)[0])
	}
}

// registryHosts asks Go, npm, pip and apt, as far as they are here.
func registryHosts(t *testing.T) []string {
	var texts []string
	for _, command := range []string{"go env GOPROXY", "npm config get registry", "pip config get global.index-url"} {
		args := strings.Fields(command)
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = t.TempDir()  // no project's configuration
		out, _ := cmd.Output() // a tool that is not here has no registry
		texts = append(texts, string(out))
	}
	lists, _ := filepath.Glob("/etc/apt/sources.list.d/*")
	for _, name := range append(lists, "/etc/apt/sources.list", "/etc/apt/mirrors/debian.list") {
		b, _ := os.ReadFile(name)
		texts = append(texts, string(b))
	}
	var hosts []string
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\r\n,|[]\"'<>#", c) }) {
			u, err := url.Parse(word)
			if err != nil || !strings.Contains(word, "://") || !strings.Contains(u.Hostname(), ".") {
				continue
			}
			if _, err := netip.ParseAddr(u.Hostname()); err != nil { // an address names no registry
				hosts = append(hosts, strings.ToLower(u.Hostname()))
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// hostPattern finds the hosts, but not where they are a part of another name.
func hostPattern(hosts []string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^a-z0-9.*-])(?:` + alternatives(hosts) + `)(?:$|[^a-z0-9.-]|\.(?:$|[^a-z0-9]))`)
}

// TestNoPathsOfThisMachine looks for where this copy of the repository and the
// user's home are.
func TestNoPathsOfThisMachine(t *testing.T) {
	r := repository(t)
	paths := append([]string{r.root}, ownPaths(filepath.Dir(r.root))...)
	if home, err := os.UserHomeDir(); err == nil {
		paths = append(paths, ownPaths(home)...)
	}
	r.scan(t, pathPattern(paths), "names a path of this machine: use a relative path, a variable or a made-up one")
}

// ownPaths returns what in a path of dir tells this machine from others: dir
// itself, or what lies in it where many machines have such a folder. Folders
// that all machines have, or that the VM has, tell nothing.
func ownPaths(dir string) []string {
	switch filepath.ToSlash(dir) {
	case "/", "/home", "/tmp", "/var/tmp", "/usr", "/usr/src", "/usr/local", "/mnt", "/opt", "/srv", "/var", "/home/user", "/project":
		return nil
	}
	if strings.Count(filepath.ToSlash(dir), "/") > 1 {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries[:min(len(entries), 200)] {
		if !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// pathPattern finds the paths and what is below them.
func pathPattern(paths []string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^A-Za-z0-9._~/-]|://)(?:` + alternatives(paths) + `)(?:$|[^A-Za-z0-9._-])`)
}

func alternatives(texts []string) string {
	var quoted []string
	for _, s := range texts {
		quoted = append(quoted, regexp.QuoteMeta(s))
	}
	return strings.Join(quoted, "|")
}

// scan reports each line of the repository that the pattern finds.
func (r *repo) scan(t *testing.T, pattern *regexp.Regexp, todo string) {
	t.Helper()
	for _, name := range r.files {
		if pattern.MatchString(name) {
			t.Errorf("%s: the file's name %s", name, todo)
		}
		b, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
		if err != nil {
			continue // removed since it was listed
		}
		for i, line := range bytes.Split(b, []byte{'\n'}) {
			if pattern.Match(line) {
				t.Errorf("%s:%d: %s", name, i+1, todo)
			}
		}
	}
}

// TestNoBinaries wants text only, of a size that can be reviewed.
func TestNoBinaries(t *testing.T) {
	exempt := newExceptions(t, "binaries", map[string]string{})
	r := repository(t)
	for _, name := range r.files {
		b, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
		if err != nil {
			continue // removed since it was listed
		}
		if len(b) > maxTracked && !exempt.has(name) {
			t.Errorf("%s: %d bytes, at most %d: make it when it is needed", name, len(b), maxTracked)
		}
		for kind, magic := range map[string]string{
			"an ELF program": "\x7fELF", "a Windows program": "MZ\x90\x00", "a macOS program": "\xcf\xfa\xed\xfe",
			"a gzip file": "\x1f\x8b\x08", "an xz file": "\xfd7zXZ\x00", "a zip file": "PK\x03\x04",
		} {
			if bytes.HasPrefix(b, []byte(magic)) && !exempt.has(name) {
				t.Errorf("%s: is %s: make it when it is needed", name, kind)
			}
		}
	}
}
