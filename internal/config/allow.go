package config

import (
	"errors"
	"slices"
	"strings"

	"aibox/internal/config/preset"
	"aibox/internal/hosts"

	yaml "go.yaml.in/yaml/v4"
)

const presetPrefix = "preset:"

// entryAt is an entry that the file writes out, as opposed to a preset's.
type entryAt = at[hosts.Entry]

func (d *decoder) readAllow(n *yaml.Node) {
	presets := map[string]int{}
	for _, item := range d.items(n, "allow", maxAllow) {
		if name, ok := strings.CutPrefix(item.Value, presetPrefix); ok {
			d.readPreset(item, name, presets)
			continue
		}
		e, err := hosts.Parse(item.Value)
		if err != nil {
			d.failEntry(item, err)
			continue
		}
		d.allow = append(d.allow, entryAt{item, e})
		d.permit(e)
	}
}

func (d *decoder) readPreset(item *yaml.Node, name string, seen map[string]int) {
	p, ok := preset.Find(name)
	switch {
	case !ok:
		d.failPreset(item, name)
	case seen[name] != 0:
		d.fail(item, "remove one of the two", "allow: %s is listed twice, first on line %d", quote(item.Value), seen[name])
	default:
		seen[name] = item.Line
		for _, h := range p.Hosts {
			d.permit(h.Entry)
		}
	}
}

// permit adds an entry unless a preset brought it already.
func (d *decoder) permit(e hosts.Entry) {
	if !slices.Contains(d.settings.Allow, e) {
		d.settings.Allow = append(d.settings.Allow, e)
	}
}

func (d *decoder) failPreset(item *yaml.Node, name string) {
	text, hint := presetMistake(name)
	d.fail(item, hint, "allow: %s", text)
}

func presetMistake(name string) (text, hint string) {
	hint = "the presets are " + strings.Join(preset.Names(), ", ")
	if near := nearest(name, preset.Names()); near != "" {
		hint = "did you mean " + presetPrefix + near + "?"
	}
	return "there is no preset " + quote(name), hint
}

func (d *decoder) failEntry(item *yaml.Node, err error) {
	if e := (*hosts.Error)(nil); errors.As(err, &e) {
		d.fail(item, e.Hint, "allow: %s %s", quote(e.Text), e.Reason)
		return
	}
	d.fail(item, "", "allow: %v", err)
}

// acrossAllow compares the entries with one another.
func (d *decoder) acrossAllow() {
	list := make(hosts.List, len(d.allow))
	for i, a := range d.allow {
		list[i] = a.value
	}
	for _, c := range list.Conflicts() {
		d.fail(d.allow[c.Index].node, c.Hint, "allow: %s %s, first on line %d",
			quote(d.allow[c.Index].node.Value), c.Reason, d.allow[c.Earlier].node.Line)
	}
}

// CheckAllow checks what could become an item of the allow list, "preset:NAME"
// included, and returns it as the file should hold it.
func CheckAllow(text string) (string, error) {
	if name, ok := strings.CutPrefix(text, presetPrefix); ok {
		if _, ok := preset.Find(name); !ok {
			text, hint := presetMistake(name)
			return "", &hosts.Error{Text: presetPrefix + name, Reason: "is no entry: " + text, Hint: hint}
		}
		return text, nil
	}
	e, err := hosts.Parse(text)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}
