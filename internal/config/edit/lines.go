package edit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Byte offsets and lines of a text in which something is inserted.

// offset returns where a line and column, counted in characters from 1, is.
func offset(text []byte, line, column int) int {
	at := lineStart(text, line)
	if line <= 1 && bytes.HasPrefix(text, []byte(byteOrderMark)) {
		at = len(byteOrderMark)
	}
	for ; column > 1 && at < len(text); column-- {
		_, n := utf8.DecodeRune(text[at:])
		at += n
	}
	return at
}

// lineStart returns where the line begins, the end of the text for one that is not there.
func lineStart(text []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	return at
}

const byteOrderMark = "\ufeff"

func insert(text []byte, at int, s string) []byte {
	at = min(at, len(text))
	return slices.Concat(text[:at], []byte(s), text[at:])
}

// insertLines adds one line for each entry behind the line of that number, with
// the line ends of the text. A text that ends without a line end stays so.
func insertLines(text []byte, after int, prefix string, entries []string) []byte {
	eol := lineEnd(text)
	at := lineStart(text, after+1)
	var b strings.Builder
	closed := at == 0 || text[at-1] == '\n'
	for _, e := range entries {
		if closed {
			b.WriteString(prefix + render(e) + eol)
		} else {
			b.WriteString(eol + prefix + render(e))
		}
	}
	return insert(text, at, b.String())
}

// appendBlock adds a list of its own at the end of the text.
func appendBlock(text []byte, indent string, entries []string) []byte {
	eol := lineEnd(text)
	var b strings.Builder
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteString(eol)
	}
	b.WriteString(indent + "allow:" + eol)
	for _, e := range entries {
		b.WriteString(indent + "  - " + render(e) + eol)
	}
	return insert(text, len(text), b.String())
}

func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// render writes an entry as an item of a list, in quotes where YAML could take
// it for something else.
func render(entry string) string {
	first := entry[0] | 0x20
	name := first >= 'a' && first <= 'z' && strings.ContainsAny(entry, ".:")
	if (name || strings.Count(entry, ".") > 2) && !strings.ContainsAny(entry, "*[]") {
		return entry
	}
	return strconv.Quote(entry)
}

func renderAll(entries []string) []string {
	var all []string
	for _, e := range entries {
		all = append(all, render(e))
	}
	return all
}

// lineOf returns the line of that number without its line end, empty where there is none.
func lineOf(text []byte, number int) string {
	line, _, _ := bytes.Cut(text[lineStart(text, number):], []byte("\n"))
	return string(line)
}
