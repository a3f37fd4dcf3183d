// Package edit changes a config in place and keeps every byte that it does not
// have to change, comments and order included.
package edit

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"aibox/internal/config"
	"aibox/internal/fault"
	"aibox/internal/hosts"

	yaml "go.yaml.in/yaml/v4"
)

// AddAllow adds entries, as config.CheckAllow returns them, at the end of the allow
// list of the config and keeps every other byte. Entries that stand there are
// left out; added are the others. The result is read again and compared, so
// that a text which cannot be extended in place is an error and never damaged.
// So is a text with mistakes.
func AddAllow(name string, text []byte, entries []string) (result []byte, added []string, err error) {
	before, err := config.Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	root, value := allowNode(text)
	old := itemTexts(value)
	for _, e := range entries {
		if !slices.Contains(old, e) && !slices.Contains(added, e) {
			added = append(added, e)
		}
	}
	if len(added) == 0 {
		return text, nil, nil
	}
	if err := conflict(append(slices.Clone(old), added...)); err != nil {
		return nil, nil, err
	}
	for _, candidate := range splices(text, root, value, added) {
		after, err := config.Parse(name, candidate)
		if err != nil {
			continue
		}
		_, list := allowNode(candidate)
		after.Allow = before.Allow
		if slices.Equal(itemTexts(list), append(slices.Clone(old), added...)) && reflect.DeepEqual(before, after) {
			return candidate, added, nil
		}
	}
	return nil, nil, fault.New(fault.Config, `add under "allow": - `+strings.Join(renderAll(added), ", - "),
		"config %q is written in a way that cannot be extended without changing the rest", name)
}

// conflict tells when two entries cannot stand beside each other.
func conflict(texts []string) error {
	var list hosts.List
	for _, t := range texts {
		if e, err := hosts.Parse(t); err == nil {
			list = append(list, e)
		}
	}
	for _, c := range list.Conflicts() {
		return fault.New(fault.Usage, c.Hint, "allow: %q %s", list[c.Index].String(), c.Reason)
	}
	return nil
}

// allowNode finds the root and the value of "allow" in a valid config; each
// may be nil. An alias is returned as it is.
func allowNode(text []byte) (root, value *yaml.Node) {
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil
	}
	root = doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "allow" {
			return root, root.Content[i+1]
		}
	}
	return root, nil
}

// follow returns the node that an alias names, other nodes as they are.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// itemTexts returns the items as config.CheckAllow would.
func itemTexts(list *yaml.Node) []string {
	var found []string
	if list == nil {
		return nil
	}
	for _, item := range follow(list).Content {
		if text, err := config.CheckAllow(follow(item).Value); err == nil {
			found = append(found, text)
		}
	}
	return found
}

// splices returns texts that could be the config with the entries added, the
// likeliest first. None of them needs to be right.
func splices(text []byte, root, value *yaml.Node, added []string) [][]byte {
	flow := strings.Join(renderAll(added), ", ")
	switch {
	case root == nil:
		return [][]byte{appendBlock(text, "", added)}
	case value == nil && root.Style&yaml.FlowStyle != 0:
		end := ""
		if len(root.Content) > 0 {
			end = ", "
		}
		return [][]byte{insert(text, offset(text, root.Line, root.Column)+1, "allow: ["+flow+"]"+end)}
	case value == nil:
		return [][]byte{appendBlock(text, strings.Repeat(" ", root.Column-1), added)}
	case value.Kind == yaml.ScalarNode && value.Value == "":
		// "allow:" with all items commented out: below the key.
		indent := strings.Repeat(" ", max(root.Column-1, 0)+2)
		return [][]byte{insertLines(text, value.Line, indent+"- ", added)}
	case value.Kind == yaml.ScalarNode:
		at := offset(text, value.Line, value.Column)
		return [][]byte{insert(slices.Concat(text[:at], text[min(at+len(value.Value), len(text)):]), at, "["+flow+"]")}
	case value.Kind != yaml.SequenceNode:
		return nil
	case value.Style&yaml.FlowStyle != 0:
		return flowSplices(text, value, flow)
	case len(value.Content) == 0:
		return nil
	}
	return blockSplices(text, value.Content[len(value.Content)-1].Line, added)
}

// blockSplices inserts lines like the last item's behind it. That item may
// span several lines, so each of the next few lines is tried.
func blockSplices(text []byte, last int, added []string) [][]byte {
	prefix := ""
	for line := last; line > 0 && line > last-5; line-- {
		s := lineOf(text, line)
		rest := strings.TrimLeft(s, " ")
		if after, ok := strings.CutPrefix(rest, "-"); ok {
			gap := len(after) - len(strings.TrimLeft(after, " "))
			prefix = s[:len(s)-len(rest)] + "-" + strings.Repeat(" ", max(gap, 1))
			break
		}
	}
	var found [][]byte
	for line := last; prefix != "" && line < last+20; line++ {
		found = append(found, insertLines(text, line, prefix, added))
	}
	return found
}

// flowSplices inserts behind the last item before the bracket that closes the list.
func flowSplices(text []byte, list *yaml.Node, flow string) [][]byte {
	start := offset(text, list.Line, list.Column)
	open := bytes.IndexByte(text[start:], '[') // an anchor or tag may stand before it
	if open < 0 {
		return nil
	}
	end, last := closing(text, start+open)
	if end < 0 {
		return nil
	}
	switch text[last] {
	case '[':
		return [][]byte{insert(text, last+1, flow)}
	case ',':
		return [][]byte{insert(text, last+1, " "+flow)}
	}
	return [][]byte{insert(text, last+1, ", "+flow)}
}

// closing returns where the bracket at start is closed, and the last byte
// before it that is no space and in no comment.
func closing(text []byte, start int) (end, last int) {
	last = start
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == ']':
			return i, last
		case c == '#' && strings.IndexByte(" \t\r\n", text[i-1]) >= 0:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
			continue
		case c == '"' || c == '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' {
					i++
				}
			}
		case strings.IndexByte(" \t\r\n", c) >= 0:
			continue
		}
		last = min(i, len(text)-1)
	}
	return -1, last
}
