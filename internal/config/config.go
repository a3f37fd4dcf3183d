// Package config turns a project's config.yaml into checked Settings and
// reports every mistake in it at once, each with line, column, reason and hint.
// It also writes the first config, expands presets, and adds entries to the
// allow list without touching the rest of the file.
//
// The file belongs to the user and lies outside the project, so its text is
// trusted to be the user's own; strictness is there because a setting that
// is silently ignored opens or closes something without anyone noticing.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"aibox/internal/fault"

	yaml "go.yaml.in/yaml/v4"
)

// MaxSize is the largest config that is read, in bytes.
const MaxSize = 1 << 20

// Load reads and checks the config at path. Mistakes in the text come back as
// Mistakes in an error of kind fault.Config; so does a file that is no plain
// file, that cannot be read, or that is not UTF-8. A missing file wraps
// fs.ErrNotExist.
func Load(path string) (Settings, error) {
	text, err := Read(path)
	if err != nil {
		return Settings{}, err
	}
	return Parse(path, text)
}

// Parse checks a config's text. The name stands in front of each mistake. On
// an error the Settings are zero.
func Parse(name string, text []byte) (Settings, error) {
	d := decoder{name: name, settings: defaults()}
	if root := d.document(text); root != nil {
		d.root(root)
		d.across()
	}
	if len(d.mistakes) > 0 {
		return Settings{}, &fault.Error{Kind: fault.Config, Err: d.mistakes.sorted()}
	}
	return d.settings, nil
}

// document returns the one document's root node, nil for an empty document or
// after a mistake that leaves nothing to walk through.
func (d *decoder) document(text []byte) *yaml.Node {
	if len(text) > MaxSize {
		d.mistake(Mistake{Text: fmt.Sprintf("the file has %d bytes, at most %d are read", len(text), MaxSize),
			Hint: "is this the right file?"})
		return nil
	}
	if bad, ok := unprintable(text); ok {
		d.mistake(bad)
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		d.mistake(Mistake{Text: "not valid YAML: " + err.Error()})
		return nil
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		d.mistake(syntaxMistake(text, err))
		return nil
	}
	if err := loader.Load(&second); !errors.Is(err, io.EOF) {
		d.mistake(Mistake{Line: max(second.Line, 1), Column: max(second.Column, 1), Text: "a second document begins here",
			Hint: `remove the line "---"`})
	}
	if len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" {
		return nil
	}
	return doc.Content[0]
}
