package config

import (
	"fmt"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// decoder walks through the nodes of one config. The YAML library's own
// decoding into structs is not used: it cannot say what a value should have been.
type decoder struct {
	name     string
	settings Settings
	mistakes Mistakes

	// Where what across compares was written.
	allow  []entryAt
	mounts []at[Mount]
	env    []at[EnvVar]
}

type at[T any] struct {
	node  *yaml.Node
	value T
}

// key is one key of a mapping: how its value is read and an example of it.
type key struct {
	name    string
	example string
	read    func(*decoder, *yaml.Node)
}

// keys is every key of the config's top level, in the order in which the
// documents name them.
func keys() []key {
	return []key{
		{"allow", "allow: [example.com]", (*decoder).readAllow},
		{"memory", "memory: 2048", func(d *decoder, n *yaml.Node) {
			d.number(n, "memory", "a whole number of MiB", CheckMemory, &d.settings.Memory)
		}},
		{"cpus", "cpus: 2", func(d *decoder, n *yaml.Node) {
			d.number(n, "cpus", "a whole number", CheckCPUs, &d.settings.CPUs)
		}},
		{"disk", "disk: 16", func(d *decoder, n *yaml.Node) {
			d.number(n, "disk", "a whole number of GiB", checkDisk, &d.settings.DiskGiB)
		}},
		{"mounts", "mounts: [~/docs:/docs]", (*decoder).readMounts},
		{"path", "path: [/opt/tools/bin]", (*decoder).readPath},
		{"env", "env: [NAME=value]", (*decoder).readEnv},
		{"git", "git: [{remote: github.com/me/app, fetch: true}]", (*decoder).readGit},
		{"shares", "shares: auto", (*decoder).readShares},
		boolKey("ide", func(s *Settings) *bool { return &s.IDE }),
		boolKey("clipboard", func(s *Settings) *bool { return &s.Clipboard }),
		boolKey("agents", func(s *Settings) *bool { return &s.Agents }),
		boolKey("commands", func(s *Settings) *bool { return &s.Commands }),
		boolKey("skills", func(s *Settings) *bool { return &s.Skills }),
		boolKey("claude-md", func(s *Settings) *bool { return &s.ClaudeMD }),
		boolKey("settings", func(s *Settings) *bool { return &s.Settings }),
	}
}

func boolKey(name string, field func(*Settings) *bool) key {
	return key{name, name + ": false", func(d *decoder, n *yaml.Node) {
		d.boolean(n, name, field(&d.settings))
	}}
}

func (d *decoder) root(n *yaml.Node) {
	if n = resolve(n); n.Kind != yaml.MappingNode {
		d.fail(n, `write one "key: value" on each line`, "the config must be a mapping of keys to values, not %s", describe(n))
		return
	}
	d.mapping(n, keys())
}

// mapping reads a mapping of which every key must be known and stand once.
func (d *decoder) mapping(n *yaml.Node, known []key) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], resolve(n.Content[i+1])
		k, ok := find(known, name.Value)
		switch {
		case name.Kind != yaml.ScalarNode || !ok:
			d.unknown(name, known)
			continue
		case lines[k.name] != 0:
			d.fail(name, "keep one of the two", "%q is written twice, first on line %d", k.name, lines[k.name])
			continue
		}
		lines[k.name] = name.Line
		k.read(d, value)
	}
}

func find(known []key, name string) (key, bool) {
	for _, k := range known {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

func (d *decoder) unknown(name *yaml.Node, known []key) {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	switch {
	case name.Kind != yaml.ScalarNode:
		d.fail(name, "the keys are "+strings.Join(names, ", "), "a key must be a word, not %s", describe(name))
		return
	case name.ShortTag() == "!!merge":
		d.fail(name, "write the keys out", `"<<" does not merge mappings here`)
		return
	}
	if near := nearest(name.Value, names); near != "" {
		d.fail(name, "did you mean "+strconv.Quote(near)+"?", "unknown key %s", quote(name.Value))
		return
	}
	d.fail(name, "the keys are "+strings.Join(names, ", "), "unknown key %s", quote(name.Value))
}

// fail notes a mistake at the node.
func (d *decoder) fail(n *yaml.Node, hint, format string, args ...any) {
	d.mistake(Mistake{Line: n.Line, Column: n.Column, Text: fmt.Sprintf(format, args...), Hint: hint})
}

func (d *decoder) mistake(m Mistake) {
	m.File = d.name
	d.mistakes = append(d.mistakes, m)
}

// resolve follows an alias to the node that it names. It keeps the place of the
// alias out of it: a mistake is where the text is.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
