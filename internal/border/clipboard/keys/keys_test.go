package keys

import (
	"slices"
	"testing"
)

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// recorded is what terminals send.
func recorded() []struct {
	name, bytes string
	want        bool
} {
	return []struct {
		name, bytes string
		want        bool
	}{
		{"xterm, plain", "\x16", true},
		{"xterm, modifyOtherKeys=2", "\x1b[27;5;118~", true},
		{"xterm, modifyOtherKeys=2, formatOtherKeys=1", "\x1b[118;5u", true},
		{"xterm, modifyOtherKeys=2, Caps Lock", "\x1b[27;5;86~", true},
		{"kitty, plain", "\x16", true},
		{"kitty, disambiguate", "\x1b[118;5u", true},
		{"kitty, event types, press", "\x1b[118;5:1u", true},
		{"kitty, event types, repeat", "\x1b[118;5:2u", true},
		{"kitty, event types, release", "\x1b[118;5:3u", false},
		{"kitty, Num Lock", "\x1b[118;133u", true},
		{"kitty, Caps Lock and Num Lock", "\x1b[118;197u", true},
		{"kitty, alternate keys, Cyrillic layout", "\x1b[1084::118;5u", true},
		{"kitty, alternate keys, Cyrillic layout, release", "\x1b[1084::118;5:3u", false},
		{"kitty, all keys, Ctrl down first", "\x1b[57442;5:1u\x1b[118;5:1u\x1b[118;5:3u\x1b[57442;1:3u", true},
		{"foot, kitty", "\x1b[118;5u", true},
		{"foot, modifyOtherKeys", "\x1b[27;5;118~", true},
		{"iTerm2, plain", "\x16", true},
		{"iTerm2, CSI u", "\x1b[118;5u", true},
		{"Windows Terminal, plain", "\x16", true},
		{"Windows Terminal, kitty", "\x1b[118;5:1u", true},
		{"tmux, plain", "\x16", true},
		{"tmux, extended keys, csi-u", "\x1b[118;5u", true},
		{"tmux, extended keys, xterm", "\x1b[27;5;118~", true},
		{"screen", "\x16", true},
		{"after other keys", "hello\x1b[A\x1bOB\x16", true},
		{"Escape, then Ctrl+V", "\x1b\x16", true},
		{"Alt+[, then Ctrl+V", "\x1b[\x16", true},
		{"Alt+P, then Ctrl+V", "\x1bP\x16", true},
		{"after a paste", pasteStart + "x" + pasteEnd + "\x16", true},
		{"after a mouse report", "\x1b[<0;10;20M\x16", true},
		{"after a focus report", "\x1b[I\x16", true},
		{"after a device report", "\x1b[?65;1;9c\x1b[118;5u", true},

		{"v", "v", false},
		{"kitty, v", "\x1b[118u", false},
		{"kitty, v with its text", "\x1b[118;1;118u", false},
		{"kitty, Shift", "\x1b[118;2u", false},
		{"kitty, Alt", "\x1b[118;3u", false},
		{"kitty, Ctrl+Shift, a terminal's own paste key", "\x1b[118:86;6u", false},
		{"kitty, Ctrl+Alt", "\x1b[118;7u", false},
		{"kitty, Super", "\x1b[118;9u", false},
		{"kitty, Ctrl+C", "\x1b[99;5u", false},
		{"xterm, Ctrl+Shift", "\x1b[27;6;118~", false},
		{"xterm, Ctrl+C", "\x1b[27;5;99~", false},
		{"answer to a question for the flags", "\x1b[?118;5u", false},
		{"pasted control character", pasteStart + "a\x16b" + pasteEnd, false},
		{"pasted key of kitty", pasteStart + "\x1b[118;5u" + pasteEnd, false},
		{"pasted key of xterm", pasteStart + "\x1b[27;5;118~" + pasteEnd, false},
		{"paste that pretends to begin again", pasteStart + pasteStart + "\x16" + pasteEnd, false},
		{"paste without an end", pasteStart + "\x16\x16", false},
		{"paste with a broken end", pasteStart + "\x1b[201\x16~\x16", false},
		{"long sequence", "\x1b[1111111111111111111111111111111111111111111111111111111111111111111118;5u", false},
		{"modifiers of zero", "\x1b[118;0u", false},
		{"modifiers beyond any", "\x1b[118;65541u", false},
		{"control character as UTF-8's tail", "\xc2\x96", false},
	}
}

// TestRecorded feeds each recording whole, in any two pieces, and byte by byte.
func TestRecorded(t *testing.T) {
	for _, r := range recorded() {
		b := []byte(r.bytes)
		for cut := range len(b) + 1 {
			var d Detector
			first := d.Feed(b[:cut])
			if got := d.Feed(b[cut:]) || first; got != r.want {
				t.Errorf("%s: %q cut at %d: %v, want %v", r.name, r.bytes, cut, got, r.want)
			}
		}
		if got := byByte(b); got != r.want {
			t.Errorf("%s: %q byte by byte: %v, want %v", r.name, r.bytes, got, r.want)
		}
	}
}

func byByte(b []byte) (pressed bool) {
	var d Detector
	for i := range b {
		pressed = d.Feed(b[i:i+1]) || pressed
	}
	return pressed
}

// FuzzFeed asks that pieces change nothing, that what a terminal puts around a
// paste hides all of it, and that no bytes keep a later key from being seen.
func FuzzFeed(f *testing.F) {
	for _, r := range recorded() {
		f.Add([]byte(r.bytes))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var whole Detector
		if got := whole.Feed(b); got != byByte(b) {
			t.Errorf("%q: %v whole, else in pieces", b, got)
		}
		if len(whole.params) > maxSequence {
			t.Errorf("%d bytes are kept", len(whole.params))
		}
		if !whole.pasting && !whole.Feed([]byte{controlV}) {
			t.Errorf("%q hides a later key", b)
		}
		if !contains(b, pasteEnd) {
			var d Detector
			if d.Feed(slices.Concat([]byte(pasteStart), b)) {
				t.Errorf("%q counts inside a paste", b)
			}
		}
	})
}

func contains(b []byte, part string) bool {
	for i := range len(b) - len(part) + 1 {
		if string(b[i:i+len(part)]) == part {
			return true
		}
	}
	return false
}
