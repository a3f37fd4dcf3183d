package names

import (
	"strings"
	"testing"

	"aibox/internal/share/ninep/proto"
)

func TestCheck(t *testing.T) {
	const bad, long = proto.EINVAL, proto.ENAMETOOLONG
	for _, c := range []struct {
		name           string
		linux, windows proto.Errno
	}{
		{"", bad, bad}, {".", bad, bad}, {"..", bad, bad}, {"a/b", bad, bad}, {"/", bad, bad},
		{"a\x00", bad, bad}, {"../x", bad, bad},
		{"a", 0, 0}, {"...", 0, bad}, {"..a", 0, 0}, {".git", 0, 0}, {"a b", 0, 0}, {"größe", 0, 0},
		{strings.Repeat("a", 255), 0, 0}, {strings.Repeat("a", 256), long, long},
		{strings.Repeat("ä", 127), 0, 0}, {strings.Repeat("ä", 128), long, 0}, {strings.Repeat("ä", 256), long, long},
		{strings.Repeat("\U0001f600", 128), long, long},
		{"\xff\xfe", 0, bad}, {"a\nb", 0, bad}, {"\x7f", 0, 0},
		{`a\b`, 0, bad}, {`..\x`, 0, bad}, {"C:", 0, bad}, {"file:stream", 0, bad}, {"file::$DATA", 0, bad},
		{"a.", 0, bad}, {"a ", 0, bad}, {" a", 0, 0}, {"a. .", 0, bad},
		{"what?", 0, bad}, {"*", 0, bad}, {"<", 0, bad}, {">", 0, bad}, {"|", 0, bad}, {`"`, 0, bad},
		{"CON", 0, bad}, {"con", 0, bad}, {"Con.txt", 0, bad}, {"con .txt", 0, bad}, {"nul.tar.gz", 0, bad},
		{"aux", 0, bad}, {"prn", 0, bad}, {"COM1", 0, bad}, {"com0", 0, bad}, {"lpt9.c", 0, bad}, {"COM¹", 0, bad}, {"LPT³.x", 0, bad},
		{"CONIN$", 0, bad}, {"conout$", 0, bad}, {"COM", 0, 0}, {"COM10", 0, 0}, {"console", 0, 0}, {"null", 0, 0}, {"a.con", 0, 0},
	} {
		if got := Check("linux", c.name); got != c.linux {
			t.Errorf("linux: %q: %v, want %v", c.name, got, c.linux)
		}
		if got := Check("windows", c.name); got != c.windows {
			t.Errorf("windows: %q: %v, want %v", c.name, got, c.windows)
		}
	}
}

// What passes on any system has no separator of any and no way up.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"a", "..", `..\`, "a/b", "CON.txt", "x:y", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		linux, windows := Check("linux", name), Check("windows", name)
		if linux == 0 && (strings.ContainsAny(name, "/\x00") || name == "" || name == "." || name == "..") {
			t.Errorf("linux takes %q", name)
		}
		if windows == 0 && (strings.ContainsAny(name, "/\\:\x00") || strings.Trim(name, ". ") == "") {
			t.Errorf("windows takes %q", name)
		}
	})
}
