package config

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"

	yaml "go.yaml.in/yaml/v4"
)

// Places in the VM that no mount may cover, lie below, or hold.
func takenTrees() []string {
	return []string{"/project", "/dev", "/proc", "/sys", "/run", "/tmp", "/etc",
		"/bin", "/sbin", "/lib", "/lib64", "/usr", "/root"}
}

// Places in the VM that no mount may cover; below them is allowed.
const (
	guestHome   = "/home/user"
	guestClaude = guestHome + "/.claude"
)

// maxGuestPath bounds a path in the VM, in bytes; the kernel's own limit is 4096.
const maxGuestPath = 1024

func (d *decoder) readMounts(n *yaml.Node) {
	for _, item := range d.items(n, "mounts", maxMounts) {
		// A host path may hold a colon, a path in the VM may not: it comes after the last one.
		cut := strings.LastIndex(item.Value, ":")
		if cut < 0 {
			d.fail(item, "write "+quote(item.Value+":/guest/path"), "mounts: %s has no path in the VM", quote(item.Value))
			continue
		}
		m := Mount{Host: item.Value[:cut], Guest: item.Value[cut+1:]}
		if text, hint := m.hostMistake(); text != "" {
			d.fail(item, hint, "mounts: %s", text)
		}
		if text, hint := m.guestMistake(); text != "" {
			d.fail(item, hint, "mounts: %s", text)
			continue
		}
		d.mounts = append(d.mounts, at[Mount]{item, m})
		d.settings.Mounts = append(d.settings.Mounts, m)
	}
}

func (m Mount) hostMistake() (text, hint string) {
	switch {
	case m.Host == "":
		return "the folder of this machine is missing", "write host folder, colon, path in the VM, such as ~/docs:/docs"
	case strings.ContainsRune(m.Host, 0):
		return "the path " + quote(m.Host) + " holds a zero byte", "remove it"
	case m.Host == "~" || strings.HasPrefix(m.Host, "~/") || filepath.IsAbs(m.Host):
		return "", ""
	case strings.HasPrefix(m.Host, "~"):
		return "the folder " + quote(m.Host) + " is another user's home, which is not looked up", "write the whole path"
	}
	return "the folder " + quote(m.Host) + " is neither absolute nor below ~/", "write the whole path, or ~/ and the path below your home"
}

func (m Mount) guestMistake() (text, hint string) {
	switch {
	case !strings.HasPrefix(m.Guest, "/"):
		return "the path in the VM " + quote(m.Guest) + " is not absolute", "write the whole path, such as /docs"
	case m.Guest != path.Clean(m.Guest):
		return "the path in the VM " + quote(m.Guest) + " is not in its shortest form", "write " + quote(path.Clean(m.Guest))
	case len(m.Guest) > maxGuestPath:
		return "the path in the VM " + quote(m.Guest) + " is too long", "choose a shorter one, such as /docs"
	case strings.ContainsFunc(m.Guest, unicode.IsControl):
		return "the path in the VM " + quote(m.Guest) + " holds a control character", "choose another one, such as /docs"
	}
	for _, name := range strings.Split(m.Guest, "/") {
		if len(name) > 255 {
			return "the path in the VM has a name of more than 255 bytes", "choose a shorter one, such as /docs"
		}
	}
	const hint1 = "choose a path of its own, such as /docs"
	for _, tree := range takenTrees() {
		if within(m.Guest, tree) || within(tree, m.Guest) {
			return "the path in the VM " + quote(m.Guest) + " would cover " + tree + ", which the VM needs", hint1
		}
	}
	if within(guestClaude, m.Guest) {
		return "the path in the VM " + quote(m.Guest) + " would cover " + guestClaude + ", which the VM needs", hint1
	}
	return "", ""
}

// within tells whether the clean path p is tree or below it.
func within(p, tree string) bool {
	return p == tree || strings.HasPrefix(p, strings.TrimSuffix(tree, "/")+"/")
}

// acrossMounts compares the mounts with one another and with the parts of
// ~/.claude that aibox mounts itself.
func (d *decoder) acrossMounts() {
	for i, m := range d.mounts {
		for _, earlier := range d.mounts[:i] {
			if within(m.value.Guest, earlier.value.Guest) || within(earlier.value.Guest, m.value.Guest) {
				d.fail(m.node, "give each mount a path of its own", "mounts: the path in the VM %s overlaps %s on line %d",
					quote(m.value.Guest), quote(earlier.value.Guest), earlier.node.Line)
				break
			}
		}
		for part, on := range map[string]bool{"agents": d.settings.Agents, "commands": d.settings.Commands, "skills": d.settings.Skills} {
			if on && within(m.value.Guest, guestClaude+"/"+part) {
				d.fail(m.node, "write "+part+": false to keep your own out", "mounts: %s is where your ~/.claude/%s goes", quote(m.value.Guest), part)
			}
		}
	}
}
