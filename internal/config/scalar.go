package config

import (
	"fmt"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// number reads a whole number in decimal. YAML's other spellings (0x10, 010,
// 1_000, 1e3) are refused: two readers take them for different numbers.
func (d *decoder) number(n *yaml.Node, name, want string, check func(int) error, into *int) {
	k, _ := find(keys(), name)
	hint := "write " + k.example
	value, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || strconv.Itoa(value) != n.Value {
		d.fail(n, hint, "%s must be %s, not %s", name, want, describe(n))
		return
	}
	if err := check(value); err != nil {
		d.fail(n, hint, "%v", err)
		return
	}
	*into = value
}

func (d *decoder) boolean(n *yaml.Node, name string, into *bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		d.fail(n, fmt.Sprintf("write %s: true or %s: false", name, name), "%s must be true or false, not %s", name, describe(n))
		return
	}
	*into = strings.EqualFold(n.Value, "true")
}

func (d *decoder) readShares(n *yaml.Node) {
	kind := ShareKind(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || kind != SharesAuto && kind != SharesVirtiofs && kind != SharesNineP {
		d.fail(n, "write shares: auto", "shares must be auto, virtiofs or 9p, not %s", describe(n))
		return
	}
	d.settings.Shares = kind
}

// items reads a list of which each item is a text and returns their nodes. An
// empty value is an empty list, so that all items can be commented out.
func (d *decoder) items(n *yaml.Node, name string, limit int) []*yaml.Node {
	k, _ := find(keys(), name)
	var found []*yaml.Node
	for _, item := range d.list(n, name, "write "+k.example, limit) {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" {
			d.fail(item, itemHint(item, k.example), "an item of %s must be a text, not %s", name, describe(item))
			continue
		}
		found = append(found, item)
	}
	return found
}

// itemHint tells apart the usual slip, a space after a colon, from others.
func itemHint(item *yaml.Node, example string) string {
	if item.Kind == yaml.MappingNode && len(item.Content) == 2 &&
		item.Content[0].Kind == yaml.ScalarNode && resolve(item.Content[1]).Kind == yaml.ScalarNode {
		return "write " + quote(item.Content[0].Value+":"+resolve(item.Content[1]).Value) + ", without a space after the colon"
	}
	if item.Kind == yaml.ScalarNode && item.Value != "" {
		return "put it in quotes: " + quote(item.Value)
	}
	return "write " + example
}

func (d *decoder) list(n *yaml.Node, name, hint string, limit int) []*yaml.Node {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		d.fail(n, hint, "%s must be a list, not %s", name, describe(n))
		return nil
	}
	if len(n.Content) > limit {
		d.fail(n, "at most "+strconv.Itoa(limit)+" are taken", "%s has %d items", name, len(n.Content))
		return nil
	}
	items := make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		items[i] = resolve(item)
	}
	return items
}

// describe names a value for "must be …, not …".
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "nothing"
	case "!!str":
		return "the text " + quote(n.Value)
	case "!!int", "!!float":
		return "the number " + clip(n.Value)
	case "!!bool":
		return clip(n.Value)
	default:
		return "a value with the tag " + quote(tag)
	}
}

// maxQuoted bounds how much of the user's text a message repeats, in bytes.
const maxQuoted = 80

func quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(strings.ToValidUTF8(s[:maxQuoted], "")) + "…"
	}
	return strconv.Quote(s)
}

func clip(s string) string {
	if len(s) > maxQuoted {
		return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return s
}

// nearest returns the name that differs from got by one or two typing errors,
// or nothing.
func nearest(got string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		if n := edits(strings.ToLower(got), name); n < distance && n < len(name)-1 {
			best, distance = name, n
		}
	}
	return best
}

// edits counts the letters to insert, drop, change or swap with their
// neighbour to make b of a. Long texts are no slips of the finger.
func edits(a, b string) int {
	if len(a) > 30 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
