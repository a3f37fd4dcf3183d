// Package plain makes untrusted text one printable line. It is the only way
// by which text that the VM wrote reaches a log or a terminal; the interactive
// session is the one exception.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine is the longest line that Line returns, in bytes, without the mark
// for what was cut.
const MaxLine = 2000

// Line returns s as one printable line of at most MaxLine bytes: control
// characters, line ends, bytes that are no UTF-8, and characters that reorder
// or hide text become '?', tabs become spaces, and what is too long ends in "…".
func Line(s string) string { return LineMax(s, MaxLine) }

// LineMax is Line with a limit of max bytes.
func LineMax(s string, max int) string {
	var b strings.Builder
	for i, r := range s {
		if b.Len()+utf8.RuneLen(r) > max {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"), !printable(r):
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printable is false for what changes a terminal's state or how the rest of
// the line is shown: controls (C0, C1), format characters such as the
// bidirectional overrides, line separators, private use and surrogates.
func printable(r rune) bool {
	return r == ' ' || (unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r))
}
