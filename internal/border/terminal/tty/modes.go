package tty

import (
	"bytes"
	"fmt"
	"strconv"
)

// modes follows the output to know which modes of the terminal a program left
// on, so that the end of the session can switch off exactly those.
type modes struct {
	state  state
	params []byte // of the CSI sequence that is being read

	private map[int]bool // private modes away from their default
	keypad  bool         // application keypad
	kitty   [2]int       // kitty keyboard pushes, per screen
	keys    bool         // modifyOtherKeys
	margins bool         // scroll region
	cursor  bool         // cursor style
	charset bool         // line drawing in G0
	shifted bool         // G1 in use
	last    byte
}

// privateModes are the private modes that are switched back, in this order.
// The value is the default. The alternate screen comes apart.
func privateModes() []struct {
	mode int
	on   bool
} {
	return []struct {
		mode int
		on   bool
	}{
		{2026, false},                                                          // synchronized output
		{9, false}, {1000, false}, {1001, false}, {1002, false}, {1003, false}, // mouse
		{1005, false}, {1006, false}, {1015, false}, {1016, false}, // mouse encodings
		{1004, false}, {2004, false}, {2031, false}, {2048, false}, {1, false}, {66, false}, // reports and keys
		{5, false}, {6, false}, {69, false}, {7, true}, {25, true}, // the screen
	}
}

func altScreens() []int { return []int{1049, 1047, 47} }

func newModes() *modes {
	return &modes{private: make(map[int]bool)}
}

// sequence acts on one CSI sequence.
func (m *modes) sequence(params string, final byte) {
	prefix := byte(0)
	if params != "" && params[0] >= '<' && params[0] <= '?' {
		prefix, params = params[0], params[1:]
	}
	switch {
	case prefix == '?' && (final == 'h' || final == 'l'):
		for _, n := range numbers(params) {
			m.setPrivate(n, final == 'h')
		}
	case final == 'u' && prefix == '>':
		m.kitty[m.screen()] = min(m.kitty[m.screen()]+1, maxKitty)
	case final == 'u' && prefix == '<':
		m.kitty[m.screen()] = max(m.kitty[m.screen()]-max(first(params), 1), 0)
	case final == 'u' && prefix == '=':
		m.kitty[m.screen()] = max(m.kitty[m.screen()], 1)
	case prefix == '>' && (final == 'm' || final == 'n'):
		if ns := numbers(params); len(ns) == 0 || ns[0] == 4 {
			m.keys = final == 'm' && len(ns) > 1 && ns[1] > 0
		}
	case prefix == 0 && final == 'r':
		m.margins = params != ""
	case prefix == 0 && final == 'q' && bytes.HasSuffix([]byte(params), []byte(" ")):
		m.cursor = first(params) > 0
	}
}

func (m *modes) setPrivate(mode int, on bool) {
	for _, alt := range altScreens() {
		if mode == alt {
			m.mark(mode, on)
			return
		}
	}
	for _, p := range privateModes() {
		if p.mode == mode {
			m.mark(mode, on != p.on)
		}
	}
}

func (m *modes) mark(mode int, changed bool) {
	if changed {
		m.private[mode] = true
	} else {
		delete(m.private, mode)
	}
}

func (m *modes) screen() int {
	for _, alt := range altScreens() {
		if m.private[alt] {
			return 1
		}
	}
	return 0
}

// restore returns what brings the terminal back, empty if nothing was left.
func (m *modes) restore() []byte {
	var b bytes.Buffer
	if m.state != ground {
		b.WriteString("\x18\x1b\\") // ends a sequence that was cut off
	}
	for _, p := range privateModes() {
		if m.private[p.mode] {
			fmt.Fprintf(&b, "\x1b[?%d%c", p.mode, onOff(p.on))
		}
	}
	popKitty(&b, m.kitty[m.screen()])
	for _, alt := range altScreens() {
		if m.private[alt] {
			fmt.Fprintf(&b, "\x1b[?%dl", alt)
		}
	}
	if m.screen() == 1 {
		popKitty(&b, m.kitty[0])
	}
	for _, s := range []struct {
		left bool
		text string
	}{
		{m.keypad, "\x1b>"}, {m.keys, "\x1b[>4;0m"}, {m.cursor, "\x1b[0 q"}, {m.charset, "\x1b(B"}, {m.shifted, "\x0f"},
		{m.margins, "\x1b7\x1b[r\x1b8"}, // the region's end moves the cursor
	} {
		if s.left {
			b.WriteString(s.text)
		}
	}
	return b.Bytes()
}

func popKitty(b *bytes.Buffer, n int) {
	if n > 0 {
		fmt.Fprintf(b, "\x1b[<%du", n)
	}
}

func onOff(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}

// numbers reads parameters separated by ';'. What is no number ends them.
func numbers(params string) []int {
	var ns []int
	for _, p := range bytes.Split([]byte(params), []byte{';'}) {
		n, err := strconv.Atoi(string(p))
		if err != nil {
			break
		}
		ns = append(ns, n)
	}
	return ns
}

func first(params string) int {
	n := 0
	for _, c := range []byte(params) {
		if c < '0' || c > '9' || n > 9999 {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// afterFailure is what a program that died cannot have left on purpose: colours,
// an open hyperlink, a hidden cursor, half a line.
func (m *modes) afterFailure() []byte {
	text := "\x1b[0m\x1b]8;;\x1b\\\x1b[?25h"
	if m.last != '\n' && m.last != 0 {
		text += "\r\n"
	}
	return []byte(text)
}
