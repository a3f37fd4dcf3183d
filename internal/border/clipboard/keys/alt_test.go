package keys

import (
	"bytes"
	"testing"
)

// What Windows' terminals send for Alt+V becomes Ctrl+V in the same form.
func TestAltV(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "\x1bv", "\x16"},
		{"kitty", "\x1b[118;3u", "\x1b[118;5u"},
		{"kitty, press", "\x1b[118;3:1u", "\x1b[118;5:1u"},
		{"kitty, release", "\x1b[118;3:3u", "\x1b[118;5:3u"},
		{"kitty, Num Lock", "\x1b[118;131u", "\x1b[118;133u"},
		{"kitty, Cyrillic layout", "\x1b[1084::118;3u", "\x1b[1084::118;5u"},
		{"xterm", "\x1b[27;3;118~", "\x1b[27;5;118~"},

		{"v", "v", "v"},
		{"Escape", "\x1b", "\x1b"},
		{"Alt+Shift+V", "\x1bV", "\x1bV"},
		{"more in the same read", "\x1bvx", "\x1bvx"},
		{"two keys in one read", "\x1b[118;3u\x1b[118;3u", "\x1b[118;3u\x1b[118;3u"},
		{"Alt+C", "\x1b[99;3u", "\x1b[99;3u"},
		{"Ctrl+Alt+V", "\x1b[118;7u", "\x1b[118;7u"},
		{"Shift+V", "\x1b[118;2u", "\x1b[118;2u"},
		{"Ctrl+V", "\x16", "\x16"},
		{"a paste's start", pasteStart, pasteStart},
		{"cut off", "\x1b[118;3", "\x1b[118;3"},
		{"nothing", "", ""},
	} {
		var d Detector
		got := d.AltV([]byte(c.in))
		if string(got) != c.want {
			t.Errorf("%s: %q became %q, want %q", c.name, c.in, got, c.want)
		}
		if release := c.name == "kitty, release"; c.in != c.want && d.Feed(got) == release {
			t.Errorf("%s: %q counts as the paste key: %v", c.name, got, !release)
		}
	}
}

func TestAltVInPieces(t *testing.T) {
	for _, before := range []string{pasteStart, pasteStart + "text", "\x1b", "\x1b[118"} {
		var d Detector
		d.Feed([]byte(before))
		for _, key := range []string{"\x1bv", "\x1b[118;3u", "v", ";3u"} {
			if got := d.AltV([]byte(key)); string(got) != key {
				t.Errorf("%q after %q became %q", key, before, got)
			}
		}
	}
}

// FuzzAltV asks that only a key changes, and into one that the detector sees.
func FuzzAltV(f *testing.F) {
	for _, r := range recorded() {
		f.Add([]byte(r.bytes))
	}
	f.Add([]byte("\x1b[118;3u"))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		var d Detector
		got := d.AltV(b)
		if !bytes.Equal(b, before) {
			t.Errorf("%q was written to", before)
		}
		if again := d.AltV(got); !bytes.Equal(again, got) {
			t.Errorf("%q became %q and then %q", b, got, again)
		}
		if !bytes.Equal(got, b) && (b[0] != esc || len(got) > len(b)) {
			t.Errorf("%q became %q", b, got)
		}
	})
}
