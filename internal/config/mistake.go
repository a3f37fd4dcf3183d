package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// Mistake is one thing that is wrong in a config.
type Mistake struct {
	File         string
	Line, Column int    // from 1; 0 where the mistake is in no one place
	Text         string // what is wrong, in one line
	Hint         string // what to write instead; may be empty
}

func (m Mistake) Error() string {
	if m.Line == 0 {
		return fmt.Sprintf("%s: %s", m.File, m.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Text)
}

// Mistakes is everything that is wrong in a config, in the order of the file.
// There is at least one.
type Mistakes []Mistake

// Error gives one line for each mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

func (m Mistakes) sorted() Mistakes {
	slices.SortStableFunc(m, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return m
}

// unprintable finds the first byte that no config may hold. It is looked for
// before YAML is parsed since the YAML reader does not say where such a byte is.
func unprintable(text []byte) (Mistake, bool) {
	line, column := 1, 1
	rest := bytesAfterMark(text)
	for len(rest) > 0 {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			return Mistake{Line: line, Column: column, Text: fmt.Sprintf("byte %#02x is not UTF-8", rest[0]),
				Hint: "save the file as UTF-8"}, true
		case r < ' ' && r != '\n' && r != '\r' && r != '\t', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfeff, r == 0xfffe, r == 0xffff:
			return Mistake{Line: line, Column: column, Text: fmt.Sprintf("control character %U", r),
				Hint: "remove the character"}, true
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
		rest = rest[n:]
	}
	return Mistake{}, false
}

func bytesAfterMark(text []byte) []byte {
	if strings.HasPrefix(string(text[:min(3, len(text))]), byteOrderMark) {
		return text[3:]
	}
	return text
}

const byteOrderMark = "\ufeff"

// syntaxMistake explains what the YAML library could not parse.
func syntaxMistake(text []byte, err error) Mistake {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return Mistake{Text: "not valid YAML: " + err.Error()}
	}
	m := Mistake{Line: load.Mark.Line, Column: load.Mark.Column, Text: "not valid YAML: " + load.Message}
	if m.Line == 0 {
		m.Column = 0
	}
	line := lineOf(text, m.Line)
	switch {
	case strings.Contains(load.Message, "unknown anchor"):
		m.Text = "an entry that begins with * must stand in quotes"
		m.Hint = `write "*.example.com", with the quotes`
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		m.Hint = "indent with spaces, not with tabs"
	case strings.Contains(load.Message, "mapping values are not allowed"):
		m.Hint = "put a text that holds a colon and a space in quotes"
	default:
		m.Hint = "check the quotes, brackets and indentation of this line and the one before"
	}
	return m
}

// lineOf returns the line of that number, from 1, empty where there is none.
func lineOf(text []byte, number int) string {
	lines := strings.Split(string(text), "\n")
	if number < 1 || number > len(lines) {
		return ""
	}
	return lines[number-1]
}
