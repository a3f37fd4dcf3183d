// Package preset names sets of hosts that belong together, such as all that a
// language's package manager needs.
package preset

import (
	"aibox/internal/hosts"
)

// Preset is a named set of hosts that belong together.
type Preset struct {
	Name  string
	For   string // whom it serves
	Hosts []Host
}

// Host is one entry of a preset.
type Host struct {
	hosts.Entry
	Why string // what the host is for
}

// Find returns the preset of that name, without "preset:".
func Find(name string) (Preset, bool) {
	for _, p := range All() {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

// Names returns all names, without "preset:".
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// All returns all presets. The registries of Go, npm and Debian are named
// by their domains' wildcard, which also survives a move to another host.
func All() []Preset {
	name, below := hosts.Name, hosts.Subdomains
	host := func(kind hosts.Kind, h string, port uint16, why string) Host {
		return Host{hosts.Entry{Kind: kind, Host: h, Port: port}, why}
	}
	https := func(kind hosts.Kind, h, why string) Host { return host(kind, h, hosts.DefaultPort, why) }
	return []Preset{
		{"go", "Go modules", []Host{
			https(below, "golang.org", "module proxy, checksum database, toolchains"),
			https(below, "go.dev", "package documentation, vulnerability database"),
		}},
		{"npm", "Node.js packages", []Host{
			https(below, "npmjs.org", "npm's registry"),
			https(below, "yarnpkg.com", "Yarn's name for the same registry, and Yarn itself"),
		}},
		{"pypi", "Python packages", []Host{
			https(name, "pypi.org", "index of packages"),
			https(below, "pythonhosted.org", "the packages' files"),
		}},
		{"cargo", "Rust crates", []Host{
			https(name, "crates.io", "search and API"),
			https(below, "crates.io", "index and the crates' files"),
			https(name, "static.rust-lang.org", "toolchains for rustup"),
		}},
		{"github", "repositories on GitHub", []Host{
			https(name, "github.com", "clone over HTTPS, releases, web pages"),
			https(name, "api.github.com", "API"),
			https(name, "codeload.github.com", "archives of repositories"),
			https(below, "githubusercontent.com", "raw files, release files, large files"),
		}},
		{"docker", "container images on Docker Hub", []Host{
			https(below, "docker.io", "the registry and its login"),
			https(below, "docker.com", "layers of images, web pages"),
			https(name, "docker-images-prod.6aa30f8b08e16409b46e0173d6de2f56.r2.cloudflarestorage.com", "layers of images"),
		}},
		{"debian", "Debian packages", []Host{
			https(below, "debian.org", "mirrors over HTTPS, security updates"),
			host(below, "debian.org", 80, "mirrors as apt uses them: plain HTTP, signed packages"),
		}},
		{"maven", "Java packages for Maven and Gradle", []Host{
			https(below, "maven.org", "Maven Central"),
			https(name, "repo.maven.apache.org", "Maven Central as Maven names it"),
			https(below, "gradle.org", "Gradle, its plugins and wrappers"),
		}},
		{"rubygems", "Ruby gems", []Host{
			https(name, "rubygems.org", "index and gems"),
			https(below, "rubygems.org", "Bundler's index"),
		}},
		{"gitlab", "repositories on gitlab.com", []Host{
			https(name, "gitlab.com", "clone over HTTPS, API, web pages"),
			https(below, "gitlab.com", "container images, pages"),
		}},
		{"nuget", ".NET packages", []Host{
			https(below, "nuget.org", "index and packages"),
		}},
		{"packagist", "PHP packages for Composer", []Host{
			https(name, "packagist.org", "search, API"),
			https(below, "packagist.org", "index of packages"),
			https(name, "api.github.com", "archives of packages, which most keep on GitHub"),
			https(name, "codeload.github.com", "the archives' files"),
		}},
	}
}
