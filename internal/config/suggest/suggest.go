// Package suggest looks at a project's files and says which presets its tools
// need. The project may have been written by a VM, so of its files only the names
// count: no link is followed, and what is read of .git/config is only whether it
// names one of a few known hosts. The most that a hostile project gains is that a
// preset it could have had anyway is offered to the user.
package suggest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Limits of looking around in a project.
const (
	maxDepth     = 4
	maxEntries   = 50_000
	maxGitConfig = 64 << 10
	maxReasons   = 3
)

// Finding is a preset that the project seems to need.
type Finding struct {
	Preset  string   // without "preset:"
	Because []string // at most maxReasons paths of files in the project
}

// rule maps names of files to a preset. Patterns are those of path.Match; one
// with a "/" is compared with the last two parts of a path.
type rule struct {
	preset string
	names  []string
}

func rules() []rule {
	return []rule{
		{"go", []string{"go.mod", "go.work"}},
		{"npm", []string{"package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "deno.json"}},
		{"pypi", []string{"pyproject.toml", "requirements*.txt", "setup.py", "setup.cfg", "Pipfile", "poetry.lock", "uv.lock"}},
		{"cargo", []string{"Cargo.toml", "rust-toolchain.toml"}},
		{"github", []string{".github"}},
		{"docker", []string{"Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile", "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}},
		{"debian", []string{"debian/control"}},
		{"maven", []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}},
		{"rubygems", []string{"Gemfile", "*.gemspec"}},
		{"gitlab", []string{".gitlab-ci.yml"}},
		{"nuget", []string{"*.csproj", "*.fsproj", "*.vbproj", "*.sln", "*.slnx", "packages.config"}},
		{"packagist", []string{"composer.json"}},
	}
}

// skipped are folders of other people's code and of build results: what lies
// in them is no sign of what the project itself needs.
func skipped() []string {
	return []string{".git", "node_modules", "vendor", "target", "dist", "build", ".venv", "venv", "__pycache__", ".tox", "testdata", ".gradle", "obj", "bin"}
}

// Detect returns what it finds in the folder, in the order of the presets. It
// looks at most maxDepth folders deep and gives up quietly on what it cannot
// read; the error is ctx's.
func Detect(ctx context.Context, project *os.Root) ([]Finding, error) {
	reasons := map[string][]string{}
	entries := 0
	err := fs.WalkDir(project.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if entries++; entries > maxEntries {
			return fs.SkipAll
		}
		if err != nil || at == "." {
			return nil
		}
		for _, r := range rules() {
			if r.matches(at) {
				reasons[r.preset] = append(reasons[r.preset], at)
			}
		}
		if d.IsDir() && (slices.Contains(skipped(), d.Name()) || strings.Count(at, "/") >= maxDepth-1) {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, preset := range remotes(project) {
		reasons[preset] = append(reasons[preset], "the git remotes")
	}
	var found []Finding
	for _, r := range rules() {
		if list := reasons[r.preset]; len(list) > 0 {
			found = append(found, Finding{r.preset, list[:min(len(list), maxReasons)]})
		}
	}
	return found, nil
}

func (r rule) matches(at string) bool {
	for _, pattern := range r.names {
		name := path.Base(at)
		if strings.Contains(pattern, "/") {
			name = path.Join(path.Base(path.Dir(at)), name)
		}
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// remotes looks for known hosts in the URLs of .git/config.
func remotes(project *os.Root) []string {
	info, err := project.Lstat(".git")
	if err != nil || !info.IsDir() {
		return nil
	}
	info, err = project.Lstat(".git/config")
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := project.OpenFile(".git/config", os.O_RDONLY|openPlain, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxGitConfig))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return knownRemotes(text)
}

func knownRemotes(text []byte) []string {
	var found []string
	for line := range bytes.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		if !ok || strings.TrimSpace(key) != "url" {
			continue
		}
		for host, preset := range map[string]string{"github.com": "github", "gitlab.com": "gitlab"} {
			if remoteHost(strings.TrimSpace(value)) == host && !slices.Contains(found, preset) {
				found = append(found, preset)
			}
		}
	}
	return found
}

// remoteHost cuts the host out of https://user@host:port/path or user@host:path.
func remoteHost(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url, _, _ = strings.Cut(rest, "/")
	}
	url = url[strings.LastIndexByte(url, '@')+1:]
	host, _, _ := strings.Cut(url, ":")
	return strings.ToLower(host)
}
