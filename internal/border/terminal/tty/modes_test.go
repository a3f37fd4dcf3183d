package tty

import (
	"bytes"
	"testing"
)

func TestModes(t *testing.T) {
	for _, c := range []struct{ name, out, want string }{
		{"text", "hello\r\nwörld \x1b[1;31mred\x1b[0m\x1b[2J\x1b[H", ""},
		{"switched off again", "\x1b[?2004h\x1b[?25l\x1b[?1049h\x1b[?1049l\x1b[?25h\x1b[?2004l", ""},
		{"paste", "\x1b[?2004h", "\x1b[?2004l"},
		{"several at once", "\x1b[?1002;1006;25h\x1b[?25l", "\x1b[?1002l\x1b[?1006l\x1b[?25h"},
		{"wrap off", "\x1b[?7l", "\x1b[?7h"},
		{"unknown mode", "\x1b[?4242h", ""},
		{"ANSI mode", "\x1b[4h", ""},
		{"old alternate screen", "\x1b[?47h", "\x1b[?47l"},
		{"kitty", "\x1b[>1u\x1b[>31u\x1b[<u", "\x1b[<1u"},
		{"kitty popped", "\x1b[>1u\x1b[<1u", ""},
		{"kitty popped too often", "\x1b[<9999999999u", ""},
		{"kitty on both screens", "\x1b[>1u\x1b[?1049h\x1b[>1u\x1b[>1u", "\x1b[<2u\x1b[?1049l\x1b[<1u"},
		{"modifyOtherKeys", "\x1b[>4;2m", "\x1b[>4;0m"},
		{"modifyOtherKeys off", "\x1b[>4;2m\x1b[>4m", ""},
		{"keypad", "\x1b=", "\x1b>"},
		{"margins", "\x1b[2;10r", "\x1b7\x1b[r\x1b8"},
		{"margins off", "\x1b[2;10r\x1b[r", ""},
		{"cursor style", "\x1b[5 q", "\x1b[0 q"},
		{"line drawing", "\x1b(0", "\x1b(B"},
		{"shift out", "\x0e", "\x0f"},
		{"full reset", "\x1b[?2004h\x1b=\x1bc", ""},
		{"in a title", "\x1b]0;\x0e[?2004h\x07", ""},
		{"after a title", "\x1b]0;t\x1b\\\x1b[?2004h", "\x1b[?2004l"},
		{"cut off", "\x1b[?2004h\x1b[?10", "\x18\x1b\\\x1b[?2004l"},
		{"cut off in a string", "\x1bPsixel", "\x18\x1b\\"},
		{"cancelled", "\x1b[?2004\x18h", ""},
		{"endless parameters", "\x1b[?2004;" + string(bytes.Repeat([]byte("1;"), 1000)) + "h", ""},
	} {
		m := newModes()
		m.follow([]byte(c.out))
		if got := string(m.restore()); got != c.want {
			t.Errorf("%s: %q leaves %q, want %q", c.name, c.out, got, c.want)
		}
	}
}

// FuzzModes asks that cuts do not matter, that what restore returns leaves
// nothing to restore, and that it stays small.
func FuzzModes(f *testing.F) {
	f.Add([]byte("\x1b[?1049;1000h\x1b[>1u\x1b=\x1b(0\x0e\x1b[5 q\x1b[2;3r"), 3)
	f.Add([]byte("\x1b]8;;x\x1b\\\x1b[?25l\x1b[>4;2m"), 9)
	f.Add([]byte("\x1bP\x1b[\x18\x1b[<9u\x1bc"), 1)
	f.Fuzz(func(t *testing.T, out []byte, cut int) {
		whole, pieces := newModes(), newModes()
		whole.follow(out)
		at := 0
		if len(out) > 0 {
			at = (cut%len(out) + len(out)) % len(out)
		}
		pieces.follow(out[:at])
		pieces.follow(out[at:])
		undo := whole.restore()
		if got := pieces.restore(); !bytes.Equal(got, undo) {
			t.Errorf("cut at %d: %q, whole: %q", at, got, undo)
		}
		if len(undo) > 500 || len(whole.params) > maxParams+1 {
			t.Errorf("%d bytes to undo, %d parameters", len(undo), len(whole.params))
		}
		whole.follow(undo)
		if again := whole.restore(); len(again) > 0 {
			t.Errorf("%q after %q", again, undo)
		}
	})
}
